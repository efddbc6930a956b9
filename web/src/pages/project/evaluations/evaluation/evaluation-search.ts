import { searchKeys, searchList, searchSwitch, searchText } from "../../../../url/search.ts"

export const evaluationSearch = searchKeys({
  /** Which metric is drawn over the runs. */
  metric: searchText,
  /** By which metric the runs are sorted; the newest first unless it says otherwise. */
  sort: searchText,
  /** The lowest first. */
  up: searchSwitch,
  /** Ids of the runs that are chosen for comparing. */
  runs: searchList,
})
