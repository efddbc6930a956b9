/** The columns of a file: their type, and the value of the first row that has one. */
import { PlainTable } from "../../../components/layout/plain-table.tsx"
import type { JsonText } from "../../../json/json-text.ts"
import { columnTypes } from "../../../objects/column-types.ts"
import { cellsOf } from "../../../objects/row-diff.ts"
import styles from "./file-columns.module.css"

const heads = [
  { name: "Column", className: styles.column },
  { name: "Type", className: styles.type },
  { name: "First value", className: styles.value },
]

export function FileColumns({ rows }: { rows: readonly { val: JsonText }[] }) {
  return (
    <div className={styles.columns}>
      <PlainTable label="Columns of the file" heads={heads}>
        {[...columnTypes(rows)].map(([name, type]) => (
          <tr key={name}>
            <td className={styles.column}>{name}</td>
            <td className={styles.type}>{type}</td>
            <td className={styles.value}>{firstValue(rows, name)}</td>
          </tr>
        ))}
      </PlainTable>
    </div>
  )
}

const longest = 120

function firstValue(rows: readonly { val: JsonText }[], name: string): string {
  for (const row of rows) {
    const value = cellsOf(row).get(name)
    if (value !== undefined && value !== "null") return value.slice(0, longest)
  }
  return ""
}
