import { searchChoice, searchKeys, searchText } from "../../../../url/search.ts"

export const heats = ["surprise", "ratio", "advantage", "trained"] as const
export type TokenHeat = (typeof heats)[number]

export const trajectorySearch = searchKeys({
  /** The heat that colours tokens; by default the surprise. */
  heat: searchChoice(heats),
  /** The selected token: its turn and its place in it, as `2.17`. */
  token: searchText,
})
