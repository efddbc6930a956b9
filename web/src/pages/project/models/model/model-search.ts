import { searchKeys, searchList, searchText } from "../../../../url/search.ts"
import { curveKeys } from "../../training/curve-search.ts"

export const modelSearch = searchKeys({
  ...curveKeys,
  /** Which chart is large. */
  metric: searchText,
  /** Names of models beside this one. */
  with: searchList,
})
