/** The part of a queue's page that is in its address. */
import { searchChoice, searchKeys, searchText } from "../../../../url/search.ts"

export const queueSearch = searchKeys({
  /** Disputes that are decided; by default those that are not. */
  disputes: searchChoice(["decided"]),
  /** Only disputes about this question. */
  field: searchText,
  /** The dispute in hand: an item and a question. */
  item: searchText,
  about: searchText,
  dialog: searchChoice(["settings"]),
})
