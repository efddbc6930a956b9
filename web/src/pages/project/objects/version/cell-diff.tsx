/** A value as it was and as it is, word by word. */
import type { JsonText } from "../../../../json/json-text.ts"
import { valueText } from "../../../../json/value-text.ts"
import { readRef } from "../../../../objects/object-refs.ts"
import { type DiffPart, diffWords } from "../../../../diff/word-diff.ts"
import styles from "./cell-diff.module.css"
import { RefLink } from "./ref-link.tsx"

/** A longer text is cut: the whole of it is in its row. */
const longest = 2000

export function CellValue({ value }: { value: JsonText | undefined | null }) {
  const text = valueText(value)
  const ref = readRef(text)
  return ref === null ? <>{shortened(text)}</> : <RefLink of={ref} />
}

interface CellDiffProps {
  before: JsonText | undefined | null
  after: JsonText | undefined | null
}

export function CellDiff({ before, after }: CellDiffProps) {
  if (before === after) return <CellValue value={after} />
  return (
    <>
      {partsOf(before, after).map(({ kind, text }, index) =>
        kind === "same" ? (
          text
        ) : kind === "added" ? (
          <ins key={index} className={styles.added}>
            {text}
          </ins>
        ) : (
          <del key={index} className={styles.removed}>
            {text}
          </del>
        ),
      )}
    </>
  )
}

/** Only texts are compared word by word: half of a number says nothing. */
function partsOf(before: JsonText | undefined | null, after: JsonText | undefined | null): DiffPart[] {
  const [old, now] = [shortened(valueText(before)), shortened(valueText(after))]
  if (before?.startsWith('"') === true && after?.startsWith('"') === true) return diffWords(old, now)
  const whole: DiffPart[] = [
    { kind: "removed", text: old },
    { kind: "added", text: now },
  ]
  return whole.filter(({ text }) => text !== "")
}

function shortened(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`
}
