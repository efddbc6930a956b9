/**
 * A table over any number of rows, of which only those that are seen are drawn and need be loaded. What is sorted, selected
 * and current belongs to the page, which may keep it in the address; how wide columns are is kept here.
 */
import {
  columnOrderingFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table"
import { ArrowDown, ArrowUp } from "lucide-react"
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef } from "react"
import { flushSync } from "react-dom"
import { useKeys } from "../../keys/use-keys.ts"
import { classNames } from "../class-names.ts"
import { Checkbox } from "../controls/field.tsx"
import { Icon } from "../signs/icon.tsx"
import { ForReaders } from "../text/for-readers.tsx"
import { type Column, type ColumnLayout, nextSort, type Sort } from "./columns.ts"
import type { RowActs } from "./data-row.tsx"
import { extended, toggled } from "./selection.ts"
import { type RowsHandle, TableRows } from "./table-rows.tsx"
import { useColumnLayout } from "./use-column-layout.ts"
import { useSameList } from "./use-same-list.ts"
import styles from "./data-table.module.css"

export interface DataTableProps<Row> {
  /** Name of the table for screen readers: "Traces". */
  label: string
  columns: readonly Column<Row>[]
  /** How many rows there are, loaded or not. */
  count: number
  /** undefined: not loaded yet. */
  rowAt: (index: number) => Row | undefined
  idOf: (row: Row) => string
  /** The rows that are seen, after each scrolling. */
  onSeen?: (first: number, last: number) => void
  sort?: Sort | null
  onSort?: (sort: Sort) => void
  selection?: ReadonlySet<string>
  onSelect?: (selection: ReadonlySet<string>) => void
  /** The row that is in hand; its details may be open beside the table. */
  current?: number | null
  onCurrent?: (index: number) => void
  onOpen?: (row: Row) => void
  rowState?: (row: Row) => "new" | "failed" | "running" | undefined
  /** Under this name the browser remembers the columns' widths; without one it does not. */
  name?: string
  /** Instead of `name`: the page keeps the layout. */
  layout?: ColumnLayout
  onLayout?: (layout: ColumnLayout) => void
  rowHeight?: number
  /** Above the rows: "3 new calls since 14:31:58. Show them". */
  banner?: ReactNode
}

const features = tableFeatures({
  columnOrderingFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
})
/** The library keeps the columns alone: of a million rows its row model would be the slowest part. */
const noRows: object[] = []
const selectWidth = 36
const leastWidth = 48

export function DataTable<Row>(props: DataTableProps<Row>) {
  // The library's table object stays the same while what it answers changes.
  "use no memo"
  const { label, columns, count, rowAt, idOf, selection, onSelect, onSeen, sort = null, onSort, rowHeight = 28 } = props
  const { current = null, onCurrent, onOpen, rowState, name, banner } = props
  const [ownLayout, setOwnLayout] = useColumnLayout(name ?? null)
  const layout = props.layout ?? ownLayout
  const setLayout = props.onLayout ?? setOwnLayout
  const handle = useRef<RowsHandle>(null)
  const table = useTable({
    features,
    data: noRows,
    columns: columns.map(({ id, width }) => ({ id, size: width, minSize: leastWidth })),
    columnResizeMode: "onChange",
    state: {
      columnOrder: layout.order,
      columnSizing: layout.widths,
      columnVisibility: {
        ...Object.fromEntries(columns.map(({ id, isHidden }) => [id, isHidden !== true])),
        ...layout.visible,
      },
    },
    onColumnOrderChange: (change) => setLayout({ ...layout, order: applied(change, layout.order) }),
    onColumnSizingChange: (change) => setLayout({ ...layout, widths: applied(change, layout.widths) }),
    onColumnVisibilityChange: (change) => setLayout({ ...layout, visible: applied(change, layout.visible) }),
  })
  const byId = new Map(columns.map((column) => [column.id, column]))
  const shown = table.getVisibleLeafColumns().flatMap((leaf) => {
    const column = byId.get(leaf.id)
    return column === undefined ? [] : [{ column, width: leaf.getSize() }]
  })
  const drawn = useSameList(shown.map(({ column }) => column))
  const headers = new Map(
    table.getHeaderGroups().flatMap((group) => group.headers.map((header) => [header.id, header])),
  )
  const canSelect = selection !== undefined && onSelect !== undefined
  const least = shown.reduce((sum, { width }) => sum + width, canSelect ? selectWidth : 0)
  const grows = ({ id, grows: share }: Column<Row>) => (layout.widths[id] === undefined ? share : undefined)
  const isGrowing = shown.some(({ column }) => grows(column) !== undefined)
  const template = [
    canSelect ? `${selectWidth}px` : "",
    ...shown.map(({ column, width }) => {
      const share = grows(column)
      return share === undefined ? `${width}px` : `minmax(${width}px, ${share}fr)`
    }),
    // The last column ends where the tools above it do, if there is room.
    isGrowing ? "minmax(0px, 8px)" : "1fr",
  ].join(" ")

  const step = (by: 1 | -1) => {
    // From here on Enter means the row, not the button that was pressed before.
    const focused = document.activeElement
    if (focused instanceof HTMLElement && focused.matches("a, button")) focused.blur()
    const next = Math.min(count - 1, Math.max(0, (current ?? -by) + by))
    onCurrent?.(next)
    handle.current?.scrollTo(next)
  }
  const inHand = () => (current === null ? undefined : rowAt(current))
  const selectTo = (index: number) => {
    const rows = Array.from({ length: Math.abs(index - (current ?? index)) + 1 }, (_, offset) =>
      rowAt(Math.min(index, current ?? index) + offset),
    )
    onSelect?.(
      extended(
        selection ?? new Set(),
        rows.flatMap((row) => (row === undefined ? [] : idOf(row))),
      ),
    )
  }
  const selectOne = (row: Row) => onSelect?.(toggled(selection ?? new Set(), idOf(row)))
  const now = {
    take: (index: number) => onCurrent?.(index),
    open: (row: Row) => onOpen?.(row),
    select: selectOne,
    selectTo,
  }
  const acts = useRef<RowActs<Row>>(now)
  // Events come between drawings.
  useLayoutEffect(() => {
    acts.current = now
  })

  const group = label
  const isLoaded = () => current === null || rowAt(current) !== undefined
  useKeys([
    ...(onCurrent === undefined
      ? []
      : [
          { keys: "j", label: "next row", group, run: () => step(1), mayRepeat: isLoaded },
          { keys: "k", label: "previous row", group, run: () => step(-1), mayRepeat: isLoaded },
        ]),
    ...(canSelect
      ? [
          { keys: "x", label: "select", group, run: () => withRow(inHand(), selectOne) },
          {
            keys: "X",
            label: "select up to the next row",
            group,
            run: () => current !== null && selectTo(current + 1),
          },
        ]
      : []),
    ...(onOpen === undefined ? [] : [{ keys: "Enter", label: "open", group, run: () => withRow(inHand(), onOpen) }]),
  ])

  /** What a person takes in hand has the width that is seen, and so have the others, which would move against it. */
  const drawnWidths = (edge: HTMLElement) => {
    const heads = [...(edge.parentElement?.parentElement?.querySelectorAll<HTMLElement>(`.${styles.title}`) ?? [])]
    return Object.fromEntries(shown.map(({ column, width }, index) => [column.id, heads[index]?.offsetWidth ?? width]))
  }
  const holdWidths = (edge: HTMLElement) => {
    if (isGrowing) flushSync(() => setLayout({ ...layout, widths: drawnWidths(edge) }))
  }
  const pressHead = (event: KeyboardEvent<HTMLElement>, id: string) => {
    const by = { ArrowLeft: -16, ArrowRight: 16 }[event.key]
    const widths = isGrowing ? drawnWidths(event.currentTarget) : layout.widths
    const width = widths[id] ?? table.getColumn(id)?.getSize()
    if (by === undefined || width === undefined) return
    event.preventDefault()
    setLayout({ ...layout, widths: { ...widths, [id]: Math.max(leastWidth, width + by) } })
  }

  const head = (
    // As wide as the rows, or a column that grows is wider here than below.
    <div
      className={styles.head}
      role="row"
      aria-rowindex={1}
      style={{ gridTemplateColumns: template, minWidth: least }}
    >
      {canSelect && (
        <span role="columnheader" className={styles.check}>
          <Checkbox
            label="Select all rows that are loaded"
            isLabelHidden
            checked={hasAll(selection, count, rowAt, idOf)}
            onChange={(event) => onSelect(event.target.checked ? loadedIds(count, rowAt, idOf) : new Set())}
          />
        </span>
      )}
      {shown.map(({ column }) => (
        <span
          key={column.id}
          role="columnheader"
          className={classNames(styles.title, column.isNumber === true && styles.number)}
          aria-sort={sort?.column === column.id ? (sort.direction === "asc" ? "ascending" : "descending") : undefined}
        >
          <HeadTitle column={column} sort={sort} onSort={onSort} />
          <span
            role="separator"
            aria-label={`Width of ${column.title}`}
            aria-orientation="vertical"
            aria-valuenow={table.getColumn(column.id)?.getSize()}
            tabIndex={0}
            className={styles.edge}
            onMouseDown={(event) => {
              holdWidths(event.currentTarget)
              headers.get(column.id)?.getResizeHandler()(event)
            }}
            onTouchStart={(event) => {
              holdWidths(event.currentTarget)
              headers.get(column.id)?.getResizeHandler()(event)
            }}
            onKeyDown={(event) => pressHead(event, column.id)}
          />
        </span>
      ))}
      <span />
    </div>
  )
  return (
    <div
      className={styles.table}
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-multiselectable={canSelect || undefined}
    >
      <TableRows
        ref={handle}
        head={head}
        banner={banner}
        columns={drawn}
        template={template}
        least={least}
        count={count}
        rowHeight={rowHeight}
        rowAt={rowAt}
        idOf={idOf}
        onSeen={onSeen}
        selection={canSelect ? selection : null}
        current={current}
        rowState={rowState}
        acts={acts}
      />
    </div>
  )
}

interface HeadTitleProps<Row> {
  column: Column<Row>
  sort: Sort | null
  onSort: ((sort: Sort) => void) | undefined
}

function HeadTitle<Row>({ column, sort, onSort }: HeadTitleProps<Row>) {
  const words = (
    <>
      {column.title}
      {column.unit !== undefined && <span className={styles.unit}> {column.unit}</span>}
    </>
  )
  if (column.isSortable !== true || onSort === undefined) {
    return (
      <span className={styles.words} title={column.unsortable}>
        {words}
        {column.unsortable !== undefined && <ForReaders>, {column.unsortable}</ForReaders>}
      </span>
    )
  }
  return (
    <button type="button" className={styles.words} onClick={() => onSort(nextSort(sort, column.id))}>
      {words}
      {sort?.column === column.id && <Icon of={sort.direction === "asc" ? ArrowUp : ArrowDown} size={12} />}
    </button>
  )
}

function applied<Value>(change: Value | ((before: Value) => Value), before: Value): Value {
  return typeof change === "function" ? (change as (before: Value) => Value)(before) : change
}

function withRow<Row>(row: Row | undefined, act: ((row: Row) => void) | undefined): void {
  if (row !== undefined) act?.(row)
}

/** Rows that are not listed may be selected too: what is listed decides. */
function hasAll<Row>(
  selection: ReadonlySet<string>,
  count: number,
  rowAt: (index: number) => Row | undefined,
  idOf: (row: Row) => string,
): boolean {
  if (selection.size === 0 || selection.size < count) return false
  return [...loadedIds(count, rowAt, idOf)].every((id) => selection.has(id))
}

function loadedIds<Row>(
  count: number,
  rowAt: (index: number) => Row | undefined,
  idOf: (row: Row) => string,
): Set<string> {
  const ids = new Set<string>()
  for (let index = 0; index < count; index += 1) {
    const row = rowAt(index)
    if (row !== undefined) ids.add(idOf(row))
  }
  return ids
}
