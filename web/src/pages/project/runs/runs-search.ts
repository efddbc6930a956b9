import { searchChoice, searchKeys, searchList, searchSwitch, searchText } from "../../../url/search.ts"

/** `unsuccessful`: failed, crashed or killed. */
export const runStateChoices = ["running", "finished", "failed", "crashed", "killed", "unsuccessful"] as const

export const runsSearch = searchKeys({
  /** A part of the name. */
  q: searchText,
  state: searchChoice(runStateChoices),
  tag: searchText,
  group: searchText,
  /** The job type. */
  type: searchText,
  /** Ids of columns in their order; without it the usual ones. */
  cols: searchList,
  /** `created`, `config.<key>`, or a metric of the summary; the newest first unless it says otherwise. */
  sort: searchText,
  /** Smallest, oldest first. */
  up: searchSwitch,
  /** Names of those that are ticked. */
  runs: searchList,
})
