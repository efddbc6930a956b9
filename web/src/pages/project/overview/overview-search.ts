/** The part of the overview that is in its address. */
import { searchChoice } from "../../../url/search.ts"

export const overviewKeys = {
  /** The range of traffic and of the figures; by default 24 hours. */
  since: searchChoice(["24h", "7d", "30d"]),
}
