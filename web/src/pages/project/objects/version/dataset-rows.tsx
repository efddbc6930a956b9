/** All rows of a table, read as they are seen and as a draft changes them, and the one in hand as a whole beside them. */
import { Pencil, Trash2, Undo2, X } from "lucide-react"
import { useState } from "react"
import { type TextRow, useTableParts } from "../../../../api/objects/tables.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { DataTable } from "../../../../components/data-table/data-table.tsx"
import type { Column } from "../../../../components/data-table/columns.ts"
import { JsonViewer } from "../../../../components/json/json-viewer.tsx"
import { Pane } from "../../../../components/layout/pane.tsx"
import { Split } from "../../../../components/layout/split.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import { formatExact } from "../../../../format/numbers.ts"
import type { JsonText } from "../../../../json/json-text.ts"
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
import { RowDialog } from "./row-dialog.tsx"
import type { DraftOfVersion, RowState } from "./use-dataset-draft.ts"
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

export function DatasetRows(props: DatasetRowsProps) {
  const { project, table, count: stored, draft, mayChange, search, onChange } = props
  const sort = rowSortOf(search.sort)
  const count = stored + draft.draft.added.length
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

/** A row as it is in the draft; without a state: as in the table. */
type DraftRow = TextRow & { state?: RowState }

const nothing = "{}" as JsonText

interface RowInHandProps {
  project: string
  row: DraftRow | undefined
  /** As it is in the table; undefined for one that is added. */
  stored: JsonText | undefined
  /** null: nothing can be changed. */
  draft: DraftOfVersion | null
  onClose: () => void
}

function RowInHand({ project, row, stored, draft, onClose }: RowInHandProps) {
  const [isChanging, setChanging] = useState(false)
  const refs = row === undefined ? [] : refsIn(row.val)
  const shown = row?.state === undefined ? row?.digest : row.val
  return (
    <Pane
      title={row === undefined ? "Row" : `Row ${formatExact(row.original_index)}`}
      note={row?.state !== undefined && <RowMark of={row.state} />}
      tools={
        <>
          {row !== undefined && draft !== null && (
            <RowTools row={row} draft={draft} onChange={() => setChanging(true)} onGone={onClose} />
          )}
          <Button size="small" kind="quiet" icon={X} aria-label="Close the row" onClick={onClose} />
        </>
      }
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
          <MediaStrip key={`media ${shown}`} project={project} label="Row" text={row.val} />
          <JsonViewer key={shown} label="The row" text={row.val} height={480} />
          {isChanging && draft !== null && (
            <RowDialog
              title={`Change row ${formatExact(row.original_index)}`}
              text={row.val}
              onTake={(text) => draft.put(row.original_index, text, stored)}
              onClose={() => setChanging(false)}
            />
          )}
        </>
      )}
    </Pane>
  )
}

interface RowToolsProps {
  row: DraftRow
  draft: DraftOfVersion
  onChange: () => void
  /** An added row was forgotten. */
  onGone: () => void
}

function RowTools({ row: { original_index: place, state }, draft, onChange, onGone }: RowToolsProps) {
  const isInTable = state !== "added"
  return (
    <>
      {isInTable && state !== undefined && (
        <Button size="small" kind="quiet" icon={Undo2} onClick={() => draft.putBack(place)}>
          As it was
        </Button>
      )}
      {state !== "removed" && (
        <>
          <Button size="small" kind="quiet" icon={Pencil} onClick={onChange}>
            Change
          </Button>
          <Button
            size="small"
            kind="quiet"
            icon={Trash2}
            onClick={() => {
              draft.remove(place)
              if (!isInTable) onGone()
            }}
          >
            Remove
          </Button>
        </>
      )}
    </>
  )
}

const marks = {
  changed: { kind: "warn", word: "changed" },
  removed: { kind: "bad", word: "removed" },
  added: { kind: "good", word: "added" },
} as const

function RowMark({ of }: { of: RowState }) {
  return <Tag kind={marks[of].kind}>{marks[of].word}</Tag>
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
