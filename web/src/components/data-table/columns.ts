/** Columns of a data table: what they show, and how a person arranged them. */
import type { ReactNode } from "react"

export interface Column<Row> {
  id: string
  title: string
  /** Beside the title: the unit, when it is the same in every row. */
  unit?: string
  /** Pixels, unless a person sets it. */
  width: number
  /** Its share of the room that is left beside all columns, until a person sets a width. Without: it takes none of it. */
  grows?: number
  /** Numbers stand right. */
  isNumber?: boolean
  isSortable?: boolean
  /** Why it is not sortable where one would expect it, for its head. */
  unsortable?: string
  /** Only shown when a person asks for it. */
  isHidden?: boolean
  cell: (row: Row) => ReactNode
}

export interface Sort {
  column: string
  direction: "asc" | "desc"
}

/** Changes to the columns that are worth keeping, in the browser or in the address. */
export interface ColumnLayout {
  /** Ids, in order; columns that are not in it come last. */
  order: string[]
  /** Ids of those that are shown or hidden against their default. */
  visible: Record<string, boolean>
  widths: Record<string, number>
}

export const plainLayout: ColumnLayout = { order: [], visible: {}, widths: {} }

/** The next direction when a head is pressed: numbers and times begin with the largest. */
export function nextSort(sort: Sort | null, column: string): Sort {
  if (sort?.column !== column) return { column, direction: "desc" }
  return { column, direction: sort.direction === "desc" ? "asc" : "desc" }
}
