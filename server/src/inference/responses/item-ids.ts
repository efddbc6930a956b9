/**
 * Ids of the items of an answer. Each begins with that of its answer, so that an item is found by its id alone: clients may
 * name an item instead of sending it (`item_reference`).
 */
import type { ResponseInputItem } from "../../wire/inference/responses.ts"

export type ItemPrefix = "rs" | "msg" | "fc"

/** @param index place of the item in the answer, from 0. */
export function itemIdOf(responseId: string, prefix: ItemPrefix, index: number): string {
  return `${prefix}_${responseId.slice(responsePrefix.length)}${String(index).padStart(3, "0")}`
}

/** null: no item of an answer of this server has such an id. */
export function responseOfItem(id: string): string | null {
  const inner = /^(?:rs|msg|fc)_([0-9a-f]{32})\d{3,9}$/.exec(id)?.[1]
  return inner === undefined ? null : `${responsePrefix}${inner}`
}

/** Its type may be left out. */
export function isReference({ type, role, id }: ResponseInputItem): boolean {
  return type === "item_reference" || (type == null && role == null && id != null)
}

const responsePrefix = "resp_"
