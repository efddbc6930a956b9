import { searchChoice, searchKeys, searchNumber, searchSwitch } from "../../../../url/search.ts"

export const runSearch = searchKeys({
  /** By step unless it says otherwise. */
  x: searchChoice(["time"]),
  /** Weight of what came before, below 1. */
  smooth: searchNumber,
  /** The part of x that is shown. */
  x0: searchNumber,
  x1: searchNumber,
  /** Whether the metrics of the machine are unfolded. */
  system: searchSwitch,
})
