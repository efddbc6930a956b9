import { searchChoice, searchKeys } from "../../../../url/search.ts"

export const cellValues = ["reward", "advantage", "tokens"] as const
export type CellValue = (typeof cellValues)[number]
export const groupOrders = ["data", "spread", "mean"] as const
export type GroupOrder = (typeof groupOrders)[number]

export const jobSearch = searchKeys({
  /** Its progress unless it says otherwise. */
  view: searchChoice(["trajectories"]),
  /** The value in the cells of trajectories; by default the reward. */
  by: searchChoice(cellValues),
  /** As in the data. */
  sort: searchChoice(groupOrders),
})
