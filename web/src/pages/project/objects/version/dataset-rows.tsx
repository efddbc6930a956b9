/** All rows of a table, read as they are seen and as a draft changes them, and the one in hand as a whole beside them. */
import { useState } from "react"
import { type TextRow, useTableParts } from "../../../../api/objects/tables.ts"
import { DataTable } from "../../../../components/data-table/data-table.tsx"
import type { Column } from "../../../../components/data-table/columns.ts"
import { Split } from "../../../../components/layout/split.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import { formatExact } from "../../../../format/numbers.ts"
import type { JsonText } from "../../../../json/json-text.ts"
import { columnTypes } from "../../../../objects/column-types.ts"
import { cellsOf } from "../../../../objects/row-diff.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { useMedia } from "../../../../shell/use-media.ts"
import { mediaOfCell } from "../../../../media/payload-media.ts"
import { MediaCell } from "../../media/media-cell.tsx"
import { CellValue } from "./cell-diff.tsx"
import { type DraftRow, RowInHand, RowMark } from "./dataset-row.tsx"
import styles from "./dataset-rows.module.css"
import type { DraftOfVersion } from "./use-dataset-draft.ts"
import { rowSortOf, rowSortText, type VersionSearch } from "./version-search.ts"

interface DatasetRowsProps {
  project: CurrentProject
  table: string
  /** Rows of the table. */
  count: number
  draft: DraftOfVersion
  mayChange: boolean
  search: VersionSearch
  onChange: (next: VersionSearch) => void
}

const pageSize = 100
const nothing = "{}" as JsonText

export function DatasetRows(props: DatasetRowsProps) {
  const { project, table, count: stored, draft, mayChange, search, onChange } = props
  const sort = rowSortOf(search.sort)
  const count = stored + draft.counts.added
  const inHand = search.row !== undefined && search.row >= 0 && search.row < count ? Math.floor(search.row) : null
  const [seen, setSeen] = useState<[number, number]>([inHand ?? 0, inHand ?? 0])
  const isNarrow = useMedia("(max-width: 699px)")
  const first = Math.floor(seen[0] / pageSize)
  const last = Math.floor(seen[1] / pageSize)
  const numbers = [
    ...new Set([
      0,
      ...Array.from({ length: last - first + 1 }, (_, index) => first + index),
      ...(inHand === null ? [] : [Math.floor(inHand / pageSize)]),
    ]),
  ]
  const parts = useTableParts(
    numbers.map((number) => ({
      project_id: project.id,
      digest: table,
      limit: pageSize,
      offset: number * pageSize,
      ...(sort === null ? {} : { sort_by: [{ field: sort.column, direction: sort.direction }] }),
    })),
  )
  const pages = new Map(numbers.map((number, index) => [number, parts[index]?.data]))
  const storedAt = (index: number) => pages.get(Math.floor(index / pageSize))?.[index % pageSize]
  // What is added comes last, however the table is sorted.
  const rowAt = (index: number): DraftRow | undefined => {
    const row = index < stored ? storedAt(index) : { original_index: index, digest: `added ${index}`, val: nothing }
    const state = row && draft.stateAt(row.original_index)
    // A row that is another object is drawn again.
    if (row === undefined || state === undefined) return row
    return { ...row, val: draft.textAt(row.original_index) ?? row.val, state }
  }
  const failed = parts.find(({ error }) => error !== null)
  const firstRows = pages.get(0)
  if (failed?.error != null) {
    return (
      <div className={styles.error}>
        <ErrorNote what="The rows could not be read." error={failed.error} onRetry={() => void failed.refetch()} />
      </div>
    )
  }
  if (firstRows === undefined) return <SkeletonRows what="Reading rows" rows={20} />
  const grid = (
    <DataTable
      key={`${table} ${search.sort ?? ""}`}
      label="Rows of the dataset"
      columns={columnsOf(project.id, firstRows, !draft.isEmpty)}
      count={count}
      rowAt={rowAt}
      idOf={({ original_index: index }) => `${index}`}
      onSeen={(from, to) => setSeen([from, to])}
      sort={sort}
      onSort={(next) => onChange({ sort: rowSortText(next), row: undefined })}
      rowHeight={isNarrow ? 44 : 30}
      current={inHand}
      onCurrent={(index) => onChange({ row: index })}
    />
  )
  if (inHand === null) return grid
  return (
    <Split
      label="Width of the rows"
      name="dataset-row"
      start={62}
      first={grid}
      second={
        <RowInHand
          project={project.id}
          row={rowAt(inHand)}
          stored={inHand < stored ? storedAt(inHand)?.val : undefined}
          draft={mayChange ? draft : null}
          onClose={() => onChange({ row: undefined })}
        />
      }
    />
  )
}

function columnsOf(project: string, rows: readonly TextRow[], hasDraft: boolean): Column<DraftRow>[] {
  return [
    {
      id: "#",
      title: "Row",
      width: hasDraft ? 140 : 64,
      isNumber: true,
      cell: ({ original_index: index, state }) => (
        <span className={styles.place}>
          {state !== undefined && <RowMark of={state} />} {formatExact(index)}
        </span>
      ),
    },
    ...[...columnTypes(rows)].map(([name, type]): Column<DraftRow> => ({
      id: name,
      title: name === "" ? "value" : name,
      unit: type,
      width: type === "text" ? 300 : 140,
      ...(type === "text" ? { grows: 1 } : {}),
      isNumber: type === "number",
      // The API sorts by dotted paths: a name with a dot would be another one.
      isSortable: /^[\w-]+$/.test(name),
      cell: (row) => {
        const value = cellsOf(row).get(name)
        const media = value === undefined ? null : mediaOfCell(value)
        return media === null ? <CellValue value={value} /> : <MediaCell project={project} media={media} />
      },
    })),
  ]
}
