/** The address of the page that makes or extends a queue: which calls are meant, and where they go. */
import { searchChoice, searchKeys, searchList, searchSwitch, searchText } from "../../../../url/search.ts"

export const newQueueSearch = searchKeys({
  /** Ids of calls that were selected. */
  calls: searchList,
  /** Else a filter of the table of traces, with its range of time and scope. */
  q: searchText,
  /** Without a filter: an empty one would not stand in the address. */
  all: searchSwitch,
  from: searchText,
  to: searchText,
  scope: searchChoice(["all"]),
  /** The queue that they are added to; without it a new one is made. */
  queue: searchText,
})
