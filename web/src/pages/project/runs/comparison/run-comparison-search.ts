import { searchKeys, searchList, searchSwitch } from "../../../../url/search.ts"
import { runCurveKeys } from "../run/run-search.ts"

export const runComparisonSearch = searchKeys({
  ...runCurveKeys,
  /** Names of the runs, in the order of their colours. */
  runs: searchList,
  /** Whether the values of the config that are the same in all of them are shown too. */
  same: searchSwitch,
})
