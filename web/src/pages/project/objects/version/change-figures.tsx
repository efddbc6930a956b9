/** How many rows came, went and changed: "+12 −3 ~5". */
import { ForReaders } from "../../../../components/text/for-readers.tsx"
import { formatExact } from "../../../../format/numbers.ts"
import type { ChangeCounts } from "../../../../objects/row-diff.ts"
import styles from "./change-figures.module.css"

export function ChangeFigures({ counts: { added, removed, changed } }: { counts: ChangeCounts }) {
  const figures = [
    { sign: "+", count: added, word: "added", className: styles.added },
    { sign: "\u2212", count: removed, word: "removed", className: styles.removed },
    { sign: "~", count: changed, word: "changed", className: styles.changed },
  ].filter(({ count }) => count > 0)
  return (
    <span className={styles.figures}>
      {figures.map(({ sign, count, word, className }) => (
        <span key={word} className={className} title={`${formatExact(count)} ${word}`}>
          <span aria-hidden>
            {sign}
            {formatExact(count)}
          </span>
          <ForReaders>
            {formatExact(count)} {word}
          </ForReaders>
        </span>
      ))}
    </span>
  )
}
