/** A run's answer with the differing words marked: removed ones in the baseline, new ones elsewhere. */
import { LongText } from "../../../components/text/long-text.tsx"
import { diffWords } from "../../../diff/word-diff.ts"
import styles from "./output-diff.module.css"

interface OutputDiffProps {
  /** null: the baseline has no answer; nothing can be marked. */
  baseline: string | null
  text: string
  side: "baseline" | "candidate"
  /** The first candidate's answer, against which the baseline's words are marked. */
  other: string | null
}

/** Longer texts are shown without marks. */
const longest = 100_000

export function OutputDiff({ baseline, text, side, other }: OutputDiffProps) {
  const [before, after] = side === "baseline" ? [text, other] : [baseline, text]
  if (before === null || after === null || Math.max(before.length, after.length) > longest) {
    return <LongText text={text} />
  }
  const own = side === "baseline" ? "removed" : "added"
  const parts = diffWords(before, after).filter(({ kind }) => kind === "same" || kind === own)
  return (
    <p className={styles.text} dir="auto">
      {parts.map(({ kind, text: part }, index) =>
        kind === "same" ? (
          <span key={index}>{part}</span>
        ) : kind === "removed" ? (
          <del key={index}>{part}</del>
        ) : (
          <ins key={index}>{part}</ins>
        ),
      )}
    </p>
  )
}
