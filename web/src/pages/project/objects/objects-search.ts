import { searchKeys, searchText } from "../../../url/search.ts"

export const objectsSearch = searchKeys({
  /** A part of the name. */
  q: searchText,
})
