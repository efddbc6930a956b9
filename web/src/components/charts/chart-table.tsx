/** The points of a chart as a table: for readers, and for whoever wants the numbers. */
import { alignLines, type Points, wholeRange } from "./buckets.ts"
import styles from "./chart-table.module.css"

interface ChartTableProps {
  label: string
  series: readonly (Points & { name: string })[]
  height: number
  formatX: (x: number) => string
  formatY: (y: number) => string
}

/** Rows that a person reads through; longer data shows the lowest and highest value of each part. */
const mostRows = 250

export function ChartTable({ label, series, height, formatX, formatY }: ChartTableProps) {
  const [from, to] = wholeRange(series) ?? [0, 1]
  const [places, ...values] = alignLines(series, from, to, mostRows)
  return (
    <div className={styles.scroll} style={{ height }} tabIndex={0} role="region" aria-label={label}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">x</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {places.map((x, row) => (
            <tr key={x}>
              <th scope="row">{formatX(x)}</th>
              {values.map((line, column) => {
                const value = line[row]
                return <td key={series[column]?.name}>{value == null ? "" : formatY(value)}</td>
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
