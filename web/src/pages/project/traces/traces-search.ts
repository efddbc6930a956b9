/** The part of the table of traces that is in its address. */
import type { Sort } from "../../../components/data-table/columns.ts"
import { searchChoice, searchKeys, searchList, searchSwitch, searchText } from "../../../url/search.ts"

export const feedbackKinds = ["scores", "labels", "notes", "reactions"] as const

export const tracesSearch = searchKeys({
  /** The filter, as a person writes it: `calls/filter/filter-text.ts`. */
  q: searchText,
  /** `1h`, `24h`, `7d`, `30d` back from now, or a time. */
  from: searchText,
  to: searchText,
  /** Every call, or by default only the outermost one of each trace. */
  scope: searchChoice(["all"]),
  /** Instead of calls, what they are of. */
  lens: searchChoice(["conversations", "agents", "feedback"]),
  /** Only conversations in which this agent took part. */
  agent: searchText,
  /** Only feedback of one kind, and of one person, by id. */
  kind: searchChoice(feedbackKinds),
  by: searchText,
  /** Ids of columns in their order; without it the usual ones. */
  cols: searchList,
  /** A column, with a minus before it for the largest first. By default `-time`. */
  sort: searchText,
  /** The saved view that was opened; what was changed since is in the other keys. */
  view: searchText,
  /** The pane of values beside the table, which is there unless it was closed. */
  values: searchChoice(["off"]),
  /** New calls come in by themselves. */
  live: searchSwitch,
  /** Selected calls. */
  picked: searchList,
  /** The call in hand. */
  row: searchText,
})

export const newestFirst: Sort = { column: "time", direction: "desc" }

export function sortOf(text: string | undefined): Sort {
  if (text === undefined || text === "" || text === "-") return newestFirst
  return text.startsWith("-") ? { column: text.slice(1), direction: "desc" } : { column: text, direction: "asc" }
}

/** undefined: what is so by default stays out of the address. */
export function sortText({ column, direction }: Sort): string | undefined {
  const text = direction === "desc" ? `-${column}` : column
  return text === "-time" ? undefined : text
}
