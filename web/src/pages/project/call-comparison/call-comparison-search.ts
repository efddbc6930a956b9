/** Which calls are compared. */
import { searchKeys, searchList } from "../../../url/search.ts"

export const callComparisonSearch = searchKeys({
  /** Ids of two calls, the one that the other is compared with first. */
  calls: searchList,
})
