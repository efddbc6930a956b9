import { searchChoice, searchKeys, searchList, searchNumber, searchText } from "../../../url/search.ts"

export const compareSearch = searchKeys({
  /** Ids of runs: the baseline, the one that is compared with it, then others to look at beside them. */
  runs: searchList,
  /** Regressions first unless it says otherwise. */
  sort: searchChoice(["better", "digest"]),
  /** Digest of the row that is open; the first one unless it says otherwise. */
  row: searchText,
  /** Which trial of that row, from 1. */
  trial: searchNumber,
  /** Words unless it says otherwise. */
  diff: searchChoice(["off"]),
  /** Metrics of which the other direction is better than their name says. */
  turned: searchList,
})
