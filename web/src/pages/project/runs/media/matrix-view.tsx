/** A confusion matrix: how often each class was taken for which. */
import { ForReaders } from "../../../../components/text/for-readers.tsx"
import { formatExact } from "../../../../format/numbers.ts"
import styles from "./matrix-view.module.css"

interface MatrixViewProps {
  label: string
  labels: readonly string[]
  /** By what they were, then by what they were taken for. */
  counts: readonly (readonly number[])[]
}

export function MatrixView({ label, labels, counts }: MatrixViewProps) {
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label={label}>
      <table className={styles.matrix}>
        <caption>
          <ForReaders>{label}: </ForReaders>rows: what it was; columns: what it was taken for
        </caption>
        <thead>
          <tr>
            <th scope="col">
              <ForReaders>What it was</ForReaders>
            </th>
            {labels.map((name) => (
              <th key={name} scope="col" title={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((name, place) => {
            const row = counts[place] ?? []
            const all = row.reduce((sum, count) => sum + count, 0)
            return (
              <tr key={name}>
                <th scope="row" title={name}>
                  {name}
                </th>
                {row.map((count, of) => (
                  <td key={labels[of]} style={{ background: groundOf(all === 0 ? 0 : count / all) }}>
                    {formatExact(count)}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Pale enough for the number on it. */
const groundOf = (share: number) => `color-mix(in srgb, var(--series-1) ${Math.round(share * 40)}%, var(--sunken))`
