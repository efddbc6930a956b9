/** The part of a data table that scrolls: scrolling draws this alone, and of it the rows that come. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { type ReactNode, type Ref, type RefObject, useEffect, useEffectEvent, useImperativeHandle, useRef } from "react"
import type { Column } from "./columns.ts"
import { DataRow, type RowActs } from "./data-row.tsx"
import { useScrollAnchor } from "./use-scroll-anchor.ts"
import styles from "./data-table.module.css"

export interface RowsHandle {
  /** Scrolls no further than the whole row needs to be seen. */
  scrollTo: (index: number) => void
}

interface TableRowsProps<Row> {
  /** Stays in view above the rows. */
  head: ReactNode
  banner: ReactNode
  columns: readonly Column<Row>[]
  /** Widths of the columns, for the grid. */
  template: string
  /** Pixels that those need together. */
  least: number
  count: number
  rowHeight: number
  rowAt: (index: number) => Row | undefined
  idOf: (row: Row) => string
  onSeen: ((first: number, last: number) => void) | undefined
  /** null: rows cannot be selected. */
  selection: ReadonlySet<string> | null
  current: number | null
  rowState: ((row: Row) => string | undefined) | undefined
  acts: RefObject<RowActs<Row>>
  ref: Ref<RowsHandle>
}

export function TableRows<Row>(props: TableRowsProps<Row>) {
  // What the virtualizer answers changes while it stays the same object.
  "use no memo"
  const {
    head,
    banner,
    columns,
    template,
    least,
    count,
    rowHeight,
    rowAt,
    idOf,
    onSeen,
    selection,
    current,
    rowState,
  } = props
  const box = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLDivElement>(null)
  // oxlint-disable-next-line react/incompatible-library -- the directive above says so to the compiler
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  })
  // The library's own would take the room of the head, which lies over the rows, and of the banner for room that shows rows.
  const scrollTo = (index: number) => {
    const [view, rows] = [box.current, list.current]
    if (view === null || rows === null) return
    const above = rows.getBoundingClientRect().top - view.getBoundingClientRect().top + view.scrollTop
    const atEnd = above + (index + 1) * rowHeight - view.clientHeight
    virtual.scrollToOffset(Math.min(index * rowHeight, Math.max(atEnd, view.scrollTop)))
  }
  useImperativeHandle(props.ref, () => ({ scrollTo }))
  const items = virtual.getVirtualItems()

  useScrollAnchor(box, {
    count,
    rowHeight,
    idAt: (index) => {
      const row = rowAt(index)
      return row === undefined ? undefined : idOf(row)
    },
    topOf: () => virtual.scrollOffset ?? 0,
  })

  const [firstSeen, lastSeen] = [items[0]?.index ?? null, items.at(-1)?.index ?? null]
  const tellSeen = useEffectEvent((first: number | null, last: number | null) => {
    if (first !== null && last !== null) onSeen?.(first, last)
  })
  // The scrolling, which decides what has to be loaded: once the rows that came are drawn, as the page is drawn anew by it.
  // Every place is told, also one that was left meanwhile, or nothing would be told while the browser is busy.
  useEffect(() => void setTimeout(() => tellSeen(firstSeen, lastSeen)), [firstSeen, lastSeen])

  return (
    <div ref={box} className={styles.scroll}>
      {head}
      {banner}
      <div ref={list} className={styles.rows} style={{ height: virtual.getTotalSize(), minWidth: least }}>
        {items.map(({ index, start, size }) => {
          const row = rowAt(index)
          return (
            <DataRow
              key={index}
              row={row}
              index={index}
              start={start}
              height={size}
              columns={columns}
              template={template}
              isSelected={selection === null ? undefined : row !== undefined && selection.has(idOf(row))}
              isCurrent={index === current}
              state={row === undefined ? undefined : rowState?.(row)}
              acts={props.acts}
            />
          )
        })}
      </div>
    </div>
  )
}
