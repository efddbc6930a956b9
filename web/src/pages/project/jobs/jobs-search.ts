import { searchChoice, searchKeys } from "../../../url/search.ts"

export const jobsSearch = searchKeys({
  /** All of them unless it says otherwise. */
  state: searchChoice(["open", "succeeded", "failed"]),
})
