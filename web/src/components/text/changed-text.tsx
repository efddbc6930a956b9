/** Two texts as one: what is gone is struck out, what is new is marked, and long parts that are the same are folded. */
import { useState } from "react"
import { type DiffPart, diffWords } from "../../diff/word-diff.ts"
import { formatCount } from "../../format/numbers.ts"
import styles from "./changed-text.module.css"

interface ChangedTextProps {
  before: string
  after: string
}

/** Past this many characters words are not looked for: it would hold up the page. */
const longest = 200_000
/** Around a change so much of what is the same is shown. */
const context = 240

export function ChangedText({ before, after }: ChangedTextProps) {
  const [isWhole, setWhole] = useState(false)
  const parts: DiffPart[] =
    Math.max(before.length, after.length) > longest
      ? [
          { kind: "removed", text: before },
          { kind: "added", text: after },
        ]
      : diffWords(before, after)
  return (
    <p className={styles.text} dir="auto">
      {parts.map((part, index) => (
        <Part
          key={index}
          part={part}
          isWhole={isWhole}
          isFirst={index === 0}
          isLast={index === parts.length - 1}
          onWhole={() => setWhole(true)}
        />
      ))}
    </p>
  )
}

interface PartProps {
  part: DiffPart
  isWhole: boolean
  isFirst: boolean
  isLast: boolean
  onWhole: () => void
}

function Part({ part: { kind, text }, isWhole, isFirst, isLast, onWhole }: PartProps) {
  if (kind === "removed") return <del className={styles.removed}>{text}</del>
  if (kind === "added") return <ins className={styles.added}>{text}</ins>
  const head = isFirst ? 0 : context
  const tail = isLast ? 0 : context
  const hidden = text.length - head - tail
  if (isWhole || hidden < context) return text
  return (
    <>
      {text.slice(0, head)}
      <button type="button" className={styles.same} onClick={onWhole}>
        … {formatCount(hidden)} characters are the same …
      </button>
      {tail === 0 ? "" : text.slice(-tail)}
    </>
  )
}
