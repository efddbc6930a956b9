/** Rows of a logged table: the first of them, more when they are asked for, and one as a whole in a window. */
import { useState } from "react"
import { Button } from "../../../../components/controls/button.tsx"
import { JsonViewer } from "../../../../components/json/json-viewer.tsx"
import { Dialog } from "../../../../components/layers/dialog.tsx"
import { ForReaders } from "../../../../components/text/for-readers.tsx"
import { counted } from "../../../../format/counted.ts"
import { formatExact } from "../../../../format/numbers.ts"
import type { JsonText } from "../../../../json/json-text.ts"
import type { Media } from "../../../../media/media.ts"
import { MediaCell } from "../../media/media-cell.tsx"
import { MediaView } from "../../media/media-view.tsx"
import { readableJson } from "../run-values.ts"
import { fileOfCell } from "./logged-media.ts"
import { cellShown, type LoggedTable, rowText } from "./logged-table.ts"
import styles from "./table-rows.module.css"

const rowsAtOnce = 50

/** Where the files of its cells are, by path. */
export interface MediaOfTable {
  /** `entity/project` */
  project: string
  files: ReadonlyMap<string, string>
}

interface TableRowsProps {
  label: string
  table: LoggedTable
  media?: MediaOfTable
}

export function TableRows({ label, table, media }: TableRowsProps) {
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
                  const file = mediaOfCell(row[place], media)
                  if (file !== null && media !== undefined) {
                    return (
                      <td key={place}>
                        <MediaCell project={media.project} media={file} />
                      </td>
                    )
                  }
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
        {opened !== undefined && media !== undefined && <MediaOfRow table={table} row={opened} media={media} />}
        {opened !== undefined && <JsonViewer label="The row" text={rowText(table, opened)} height={480} />}
      </Dialog>
    </>
  )
}

/** Large, and what is heard or played. */
function MediaOfRow({ table, row, media }: { table: LoggedTable; row: readonly JsonText[]; media: MediaOfTable }) {
  const shown = row.flatMap((cell, place) => {
    const file = mediaOfCell(cell, media)
    return file === null ? [] : [{ file, column: table.columns[place] ?? "" }]
  })
  if (shown.length === 0) return null
  return (
    <ul className={styles.media} aria-label="Media of the row">
      {shown.map(({ file, column }) => (
        <li key={column}>
          <MediaView project={media.project} media={file} place={column} />
        </li>
      ))}
    </ul>
  )
}

/** null: the cell is none, or its file is not there. */
function mediaOfCell(cell: JsonText | undefined, media: MediaOfTable | undefined): Media | null {
  if (media === undefined || cell?.startsWith("{") !== true) return null
  const file = fileOfCell(JSON.parse(readableJson(cell)))
  const place = file === null ? undefined : media.files.get(file.path)
  if (file === null || place === undefined) return null
  const name = file.caption || (file.path.split("/").at(-1) ?? "")
  return { name, type: file.type, source: { at: "artifact", place } }
}

/** By its first rows, as they are shown. */
const isNumeric = (rows: readonly (readonly JsonText[])[], place: number) =>
  rows.slice(0, rowsAtOnce).every((row) => /^-?\d|^null$|^"-?(?:NaN|Infinity)"$/.test(row[place] ?? "null"))
