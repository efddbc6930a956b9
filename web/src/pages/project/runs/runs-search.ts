import { searchKeys, searchList, searchSwitch, searchText } from "../../../url/search.ts"

export const runsSearch = searchKeys({
  /** A part of the name. */
  q: searchText,
  tag: searchText,
  group: searchText,
  /** The job type. */
  type: searchText,
  /** `created`, or a metric of the summary; the newest first unless it says otherwise. */
  sort: searchText,
  /** Smallest, oldest first. */
  up: searchSwitch,
  /** Names of those that are ticked. */
  runs: searchList,
})
