/** Rows of a logged table: the first of them, more when they are asked for, and one as a whole in a window. */
import { useState } from "react"
import { Button } from "../../../../components/controls/button.tsx"
import { JsonViewer } from "../../../../components/json/json-viewer.tsx"
import { Dialog } from "../../../../components/layers/dialog.tsx"
import { ForReaders } from "../../../../components/text/for-readers.tsx"
import { counted } from "../../../../format/counted.ts"
import { formatExact } from "../../../../format/numbers.ts"
import type { JsonText } from "../../../../json/json-text.ts"
import { cellShown, type LoggedTable, rowText } from "./logged-table.ts"
import styles from "./table-rows.module.css"

const rowsAtOnce = 50

export function TableRows({ label, table }: { label: string; table: LoggedTable }) {
  const [count, setCount] = useState(rowsAtOnce)
  const [open, setOpen] = useState<number | null>(null)
  const { columns, rows } = table
  const more = Math.min(rowsAtOnce, rows.length - count)
  const opened = open === null ? undefined : rows[open]
  return (
    <>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={`Rows of ${label}`}>
        <table className={styles.table}>
          <caption>
            <ForReaders>{label}</ForReaders>
          </caption>
          <thead>
            <tr>
              <th scope="col">
                <ForReaders>Row</ForReaders>
              </th>
              {columns.map((name, place) => (
                <th key={place} scope="col" className={isNumeric(rows, place) ? styles.number : undefined}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, count).map((row, index) => (
              <tr key={index}>
                <th scope="row">
                  <button
                    type="button"
                    className={styles.open}
                    aria-label={`Open row ${index + 1} of ${label}`}
                    onClick={() => setOpen(index)}
                  >
                    {formatExact(index + 1)}
                  </button>
                </th>
                {columns.map((_, place) => {
                  const shown = cellShown(row[place])
                  return (
                    <td key={place} className={isNumeric(rows, place) ? styles.number : undefined} title={shown}>
                      {shown}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className={styles.foot}>
        {counted(rows.length, "row")}
        {more > 0 && (
          <Button size="small" onClick={() => setCount(count + rowsAtOnce)}>
            Show {more} more
          </Button>
        )}
      </p>
      <Dialog
        title={`Row ${formatExact((open ?? 0) + 1)} of ${label}`}
        isOpen={opened !== undefined}
        onClose={() => setOpen(null)}
        width={900}
      >
        {opened !== undefined && <JsonViewer label="The row" text={rowText(table, opened)} height={480} />}
      </Dialog>
    </>
  )
}

/** By its first rows, as they are shown. */
const isNumeric = (rows: readonly (readonly JsonText[])[], place: number) =>
  rows.slice(0, rowsAtOnce).every((row) => /^-?\d|^null$|^"-?(?:NaN|Infinity)"$/.test(row[place] ?? "null"))
