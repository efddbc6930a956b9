/** A row of a data table, which is drawn again only where something of it has changed: scrolling draws the rows that come. */
import { type ChangeEvent, memo, type RefObject } from "react"
import { classNames } from "../class-names.ts"
import { Checkbox } from "../controls/field.tsx"
import type { Column } from "./columns.ts"
import styles from "./data-table.module.css"

/** What can be done with a row; they change with every drawing of the table, and draw no row by that. */
export interface RowActs<Row> {
  take: (index: number) => void
  open: (row: Row) => void
  select: (row: Row) => void
  selectTo: (index: number) => void
}

interface DataRowProps<Row> {
  /** undefined: not loaded yet. */
  row: Row | undefined
  index: number
  /** Pixels from the top of the rows, and of its height. */
  start: number
  height: number
  columns: readonly Column<Row>[]
  /** Widths of the columns, for the grid. */
  template: string
  /** undefined: rows cannot be selected. */
  isSelected: boolean | undefined
  isCurrent: boolean
  state: string | undefined
  acts: RefObject<RowActs<Row>>
}

function Drawn<Row>(props: DataRowProps<Row>) {
  const { row, index, start, height, columns, template, isSelected, isCurrent, state, acts } = props
  /** With Shift a range: from the row in hand, which is the one whose box was clicked last. */
  const clickBox = ({ nativeEvent }: ChangeEvent) => {
    if (row === undefined) return
    if ((nativeEvent as globalThis.MouseEvent).shiftKey) return acts.current.selectTo(index)
    acts.current.take(index)
    acts.current.select(row)
  }
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- j, k, x and Enter are the table's
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-current={isCurrent ? "true" : undefined}
      data-state={state}
      className={styles.row}
      style={{ gridTemplateColumns: template, height, top: start }}
      onClick={(event) => !leadsElsewhere(event.target) && acts.current.take(index)}
      onDoubleClick={() => row !== undefined && acts.current.open(row)}
    >
      {isSelected !== undefined && (
        <span role="gridcell" className={styles.check}>
          <Checkbox
            label={`Select row ${index + 1}`}
            isLabelHidden
            checked={isSelected}
            disabled={row === undefined}
            onClick={(event) => event.stopPropagation()}
            onChange={clickBox}
          />
        </span>
      )}
      {columns.map((column) => (
        <span
          key={column.id}
          role="gridcell"
          className={classNames(styles.cell, column.isNumber === true && styles.number)}
        >
          {row === undefined ? <i className={styles.waiting} /> : column.cell(row)}
        </span>
      ))}
    </div>
  )
}

export const DataRow = memo(Drawn) as typeof Drawn

/** A link or button in a cell does what it does, and does not take the row in hand besides. */
function leadsElsewhere(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a, button") !== null
}
