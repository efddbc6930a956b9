import { searchChoice, searchKeys, searchList, searchNumber, searchText } from "../../../../url/search.ts"

export const modelSearch = searchKeys({
  /** Which chart is large. */
  metric: searchText,
  /** By step unless it says otherwise. */
  x: searchChoice(["time"]),
  /** Weight of what came before, below 1. */
  smooth: searchNumber,
  /** Names of models beside this one. */
  with: searchList,
  /** The part of x that is shown. */
  x0: searchNumber,
  x1: searchNumber,
})
