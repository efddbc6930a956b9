/** A code sample to copy. */
import { classNames } from "../class-names.ts"
import { CopyButton } from "../controls/copy-button.tsx"
import { type CodePart, highlight } from "./highlight.ts"
import styles from "./code.module.css"

const colors: Record<CodePart, string | undefined> = {
  plain: undefined,
  string: styles.string,
  comment: styles.comment,
  keyword: styles.keyword,
}

interface CodeProps {
  /** Name of the code for screen readers: "Code for OpenAI". */
  label: string
  code: string
  /** Text to copy if it differs from the shown text: a key is shown in part. */
  copied?: string
}

export function Code({ label, code, copied = code }: CodeProps) {
  return (
    <div className={styles.block}>
      <pre className={styles.code} tabIndex={0} role="region" aria-label={label}>
        {highlight(code).map(({ part, text }, index) => (
          <span key={index} className={classNames(colors[part])}>
            {text}
          </span>
        ))}
      </pre>
      <div className={styles.copy}>
        <CopyButton text={copied} isWordy label={`Copy: ${label}`} />
      </div>
    </div>
  )
}
