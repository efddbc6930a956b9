import { searchKeys, searchSwitch } from "../../../../url/search.ts"
import { curveKeys } from "../../training/curve-search.ts"

export const runSearch = searchKeys({
  ...curveKeys,
  /** Whether the metrics of the machine are unfolded. */
  system: searchSwitch,
})
