import type { Sort } from "../../../../components/data-table/columns.ts"
import { searchChoice, searchKeys, searchNumber, searchText } from "../../../../url/search.ts"

export const versionSearch = searchKeys({
  /** The view; by default the changes of a dataset, and the value of anything else. */
  show: searchChoice(["all", "changes"]),
  /** The version that it is compared with, as `v3`; by default the one before. */
  against: searchText,
  /** The row in hand, from 0, as the table is sorted. */
  row: searchNumber,
  /** A column of rows, with a minus before it for the largest first. */
  sort: searchText,
})

export type VersionSearch = ReturnType<typeof versionSearch>

/** null: in the order of the table. */
export function rowSortOf(text: string | undefined): Sort | null {
  if (text === undefined || text === "" || text === "-") return null
  return text.startsWith("-") ? { column: text.slice(1), direction: "desc" } : { column: text, direction: "asc" }
}

export function rowSortText({ column, direction }: Sort): string {
  return direction === "desc" ? `-${column}` : column
}
