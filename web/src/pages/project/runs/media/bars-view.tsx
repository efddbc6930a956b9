/** Values by their names: a bar each, with its number. */
import { formatNumber } from "../../../../format/numbers.ts"
import styles from "./bars-view.module.css"

interface BarsViewProps {
  label: string
  labels: readonly string[]
  values: readonly number[]
}

export function BarsView({ label, labels, values }: BarsViewProps) {
  const most = Math.max(...values.map(Math.abs), 0)
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label={label}>
      <dl className={styles.bars}>
        {labels.map((name, place) => {
          const value = values[place] ?? 0
          const width = `${most === 0 ? 0 : (Math.abs(value) / most) * 100}%`
          return (
            <div key={place} className={styles.bar}>
              <dt title={name}>{name}</dt>
              <dd>
                <i className={value < 0 ? styles.below : styles.above} style={{ width }} />
                <span>{formatNumber(value)}</span>
              </dd>
            </div>
          )
        })}
      </dl>
    </div>
  )
}
