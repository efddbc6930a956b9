/** The part of an annotator's page that is in its address. */
import { searchChoice, searchKeys, searchText } from "../../../../url/search.ts"

export const labelSearch = searchKeys({
  /** Several items at once; by default one. */
  view: searchChoice(["bulk"]),
  /** The item in hand. */
  item: searchText,
  /** The question in hand, by its name. */
  field: searchText,
  /** Whether suggestions, names of models and labels of others are hidden; without it as the queue needs it. */
  blind: searchChoice(["on", "off"]),
})
