/** All rows of a table, read as they are seen, and the one in hand as a whole beside them. */
import { X } from "lucide-react"
import { useState } from "react"
import { type TextRow, useTableParts } from "../../../../api/objects/tables.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { DataTable } from "../../../../components/data-table/data-table.tsx"
import type { Column } from "../../../../components/data-table/columns.ts"
import { JsonViewer } from "../../../../components/json/json-viewer.tsx"
import { Pane } from "../../../../components/layout/pane.tsx"
import { Split } from "../../../../components/layout/split.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import { formatExact } from "../../../../format/numbers.ts"
import { columnTypes } from "../../../../objects/column-types.ts"
import { refsIn } from "../../../../objects/object-refs.ts"
import { cellsOf } from "../../../../objects/row-diff.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { useMedia } from "../../../../shell/use-media.ts"
import { mediaOfCell } from "../../../../media/payload-media.ts"
import { MediaCell } from "../../media/media-cell.tsx"
import { MediaStrip } from "../../media/media-strip.tsx"
import { CellValue } from "./cell-diff.tsx"
import styles from "./dataset-rows.module.css"
import { RailList } from "./rail-section.tsx"
import { RefLink } from "./ref-link.tsx"
import { rowSortOf, rowSortText, type VersionSearch } from "./version-search.ts"

interface DatasetRowsProps {
  project: CurrentProject
  table: string
  count: number
  search: VersionSearch
  onChange: (next: VersionSearch) => void
}

const pageSize = 100

export function DatasetRows({ project, table, count, search, onChange }: DatasetRowsProps) {
  const sort = rowSortOf(search.sort)
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
  const rowAt = (index: number) => pages.get(Math.floor(index / pageSize))?.[index % pageSize]
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
      columns={columnsOf(project.id, firstRows)}
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
      second={<RowInHand project={project.id} row={rowAt(inHand)} onClose={() => onChange({ row: undefined })} />}
    />
  )
}

interface RowInHandProps {
  project: string
  row: TextRow | undefined
  onClose: () => void
}

function RowInHand({ project, row, onClose }: RowInHandProps) {
  const refs = row === undefined ? [] : refsIn(row.val)
  return (
    <Pane
      title={row === undefined ? "Row" : `Row ${formatExact(row.original_index)}`}
      tools={<Button size="small" kind="quiet" icon={X} aria-label="Close the row" onClick={onClose} />}
    >
      {row === undefined ? (
        <SkeletonRows what="Reading the row" rows={6} />
      ) : (
        <>
          {refs.length > 0 && (
            <div className={styles.refs}>
              <RailList>
                {refs.map((ref) => (
                  <li key={ref.text}>
                    <RefLink of={ref} />
                  </li>
                ))}
              </RailList>
            </div>
          )}
          <MediaStrip key={`media ${row.digest}`} project={project} label="Row" text={row.val} />
          <JsonViewer key={row.digest} label="The row" text={row.val} height={480} />
        </>
      )}
    </Pane>
  )
}

function columnsOf(project: string, rows: readonly TextRow[]): Column<TextRow>[] {
  return [
    {
      id: "#",
      title: "Row",
      width: 64,
      isNumber: true,
      cell: ({ original_index: index }) => <span className={styles.place}>{formatExact(index)}</span>,
    },
    ...[...columnTypes(rows)].map(([name, type]): Column<TextRow> => ({
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
