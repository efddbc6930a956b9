/**
 * Lists in addresses. Servers refuse addresses of more than some KB, so a list that is long is kept in this browser, and the
 * address says under which name.
 */
import { keepText, keptText, newTextId, type TextStore } from "./kept-texts.ts"

/** Items of a list that stands in the address itself. Ids have up to 36 characters. */
export const mostInAddress = 100

const kind = "list"
const mark = "kept:"

/** What stands in the address for `items`; null: it takes more than this browser has room for. */
export function listForAddress(store: TextStore, items: readonly string[]): string[] | null {
  if (items.length <= mostInAddress) return [...items]
  const id = newTextId()
  return keepText(store, kind, id, JSON.stringify(items)) ? [`${mark}${id}`] : null
}

/** The items that an address stands for; null: they are not, or no longer, kept in this browser. */
export function listOfAddress(store: TextStore, given: readonly string[]): string[] | null {
  const [first = ""] = given
  if (!first.startsWith(mark)) return [...given]
  const text = keptText(store, kind, first.slice(mark.length))
  return text === null ? null : (JSON.parse(text) as string[])
}
