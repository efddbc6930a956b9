import { searchKeys, searchSwitch } from "../../../../url/search.ts"
import { curveKeys } from "../../training/curve-search.ts"

/** The part of an address that is about curves of runs. */
export const runCurveKeys = {
  ...curveKeys,
  /** Whether the metrics of the machine are unfolded. */
  system: searchSwitch,
}

export const runSearch = searchKeys(runCurveKeys)
