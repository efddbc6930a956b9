/** Differences between the rows of two versions, cell by cell. */
import { useState } from "react"
import { type TextRow, useTableParts, useTableSizes } from "../../../../api/objects/tables.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { ForReaders } from "../../../../components/text/for-readers.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { Note } from "../../../../components/states/note.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import { nounOf } from "../../../../format/counted.ts"
import { formatExact } from "../../../../format/numbers.ts"
import { cellsOf, countChanges, diffRows, type RowChange } from "../../../../objects/row-diff.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { CellDiff, CellValue } from "./cell-diff.tsx"
import { ChangeFigures } from "./change-figures.tsx"
import styles from "./dataset-changes.module.css"

interface NamedTable {
  table: string
  /** Name of its version: `v3`. */
  name: string
}

interface DatasetChangesProps {
  project: CurrentProject
  before: NamedTable
  after: NamedTable
}

/** Both tables are read as a whole to be compared. */
const mostRows = 20_000
const mostBytes = 32_000_000

export function DatasetChanges({ project, before, after }: DatasetChangesProps) {
  const sizes = useTableSizes(project.id, [...new Set([before.table, after.table])].toSorted())
  return (
    <Loaded query={sizes} what="sizes of the tables">
      {({ tables }) => {
        const isLarge = tables.some(
          ({ count, storage_size_bytes: bytes }) => count > mostRows || (bytes ?? 0) > mostBytes,
        )
        return isLarge ? (
          <div className={styles.note}>
            <Note kind="warn" title="Too large to be compared here.">
              Tables of up to {formatExact(mostRows)} rows and 32 MB are. Download both versions to compare them.
            </Note>
          </div>
        ) : (
          <Read project={project} before={before} after={after} />
        )
      }}
    </Loaded>
  )
}

function Read({ project, before, after }: DatasetChangesProps) {
  const parts = useTableParts([before, after].map(({ table }) => ({ project_id: project.id, digest: table })))
  const failed = parts.find(({ error }) => error !== null)
  const [old, now] = parts.map(({ data }) => data)
  if (failed?.error != null) {
    return (
      <div className={styles.note}>
        <ErrorNote what="The rows could not be read." error={failed.error} onRetry={() => void failed.refetch()} />
      </div>
    )
  }
  if (old === undefined || now === undefined) return <SkeletonRows what="Reading both versions" rows={12} />
  return <Changes old={old} now={now} before={before} after={after} />
}

/** A table of them all would take seconds to draw. */
const step = 200

interface ChangesProps extends Omit<DatasetChangesProps, "project"> {
  old: readonly TextRow[]
  now: readonly TextRow[]
}

function Changes({ old, now, before, after }: ChangesProps) {
  const [most, setMost] = useState(step)
  const changes = diffRows(old, now)
  if (changes.length === 0) {
    return (
      <Empty title="No row differs">
        {before.name} and {after.name} have the same {nounOf(now.length, "row", `${formatExact(now.length)} rows`)}.
      </Empty>
    )
  }
  const columns = columnsOf(changes)
  const all = Math.max(old.length, now.length)
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label="Rows that differ">
      <p className={styles.figures}>
        {formatExact(changes.length)} of {formatExact(all)} {nounOf(all, "row differs", "rows differ")}
        <ChangeFigures counts={countChanges(changes)} />
      </p>
      <table className={styles.table}>
        <caption>
          <ForReaders>
            Rows that differ between {before.name} and {after.name}
          </ForReaders>
        </caption>
        <thead>
          <tr>
            <th scope="col" className={styles.mark}>
              <ForReaders>Change</ForReaders>
            </th>
            <th scope="col" className={styles.place}>
              Row
            </th>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column === "" ? "value" : column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, most).map((change) => (
            <ChangedRow key={keyOf(change)} change={change} columns={columns} />
          ))}
        </tbody>
      </table>
      {changes.length > most && (
        <div className={styles.more}>
          <Button onClick={() => setMost(most + step)}>
            Show more of {formatExact(changes.length - most)}{" "}
            {nounOf(changes.length - most, "row that differs", "rows that differ")}
          </Button>
        </div>
      )}
    </div>
  )
}

const marks = {
  changed: { sign: "~", word: "changed" },
  added: { sign: "+", word: "added" },
  removed: { sign: "\u2212", word: "removed" },
}

function ChangedRow({ change, columns }: { change: RowChange; columns: readonly string[] }) {
  const { sign, word } = marks[change.kind]
  const old = change.kind === "added" ? null : cellsOf(change.before)
  const now = change.kind === "removed" ? null : cellsOf(change.after)
  const { original_index: place } = change.kind === "removed" ? change.before : change.after
  return (
    <tr className={styles[change.kind]}>
      <td className={styles.mark}>
        <span aria-hidden>{sign}</span>
        <ForReaders>{word}</ForReaders>
      </td>
      <td className={styles.place}>{formatExact(place)}</td>
      {columns.map((column) => (
        <td key={column} dir="auto">
          {change.kind === "changed" ? (
            <CellDiff before={old?.get(column)} after={now?.get(column)} />
          ) : change.kind === "removed" ? (
            <del>
              <CellValue value={old?.get(column)} />
            </del>
          ) : (
            <CellValue value={now?.get(column)} />
          )}
        </td>
      ))}
    </tr>
  )
}

function columnsOf(changes: readonly RowChange[]): string[] {
  const rows = changes.flatMap((change) =>
    change.kind === "changed"
      ? [change.after, change.before]
      : [change.kind === "added" ? change.after : change.before],
  )
  return [...new Set(rows.flatMap((row) => [...cellsOf(row).keys()]))]
}

function keyOf(change: RowChange): string {
  return change.kind === "removed" ? `-${change.before.original_index}` : `${change.after.original_index}`
}
