/** Final labels: what an adjudicator has decided about a field of an item. Earlier decisions stay stored. */
import { randomUUIDv7 } from "node:crypto"
import { type Kysely, sql } from "kysely"
import { isoTime } from "../iso-time.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { Catalog } from "../schema.ts"

export interface FinalLabelRecord {
  item_id: string
  field: string
  /** JSON text. */
  value: string
  feedback_id: string | null
  note: string | null
  decided_by: string
  decided_at: string
}

export type NewFinalLabel = Omit<FinalLabelRecord, "decided_at">

const columns = ["item_id", "field", "value", "feedback_id", "note", "decided_by", isoTime("decided_at")] as const

/** Stores the final label of a field, in the place of an earlier one. */
export async function writeFinalLabel(transaction: Kysely<Catalog>, label: NewFinalLabel): Promise<FinalLabelRecord> {
  await dropFinalLabel(transaction, label.item_id, label.field)
  return transaction
    .insertInto("annotation_final_labels")
    .values({ id: randomUUIDv7(), ...label })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Takes the decision back, if there is one. */
export async function dropFinalLabel(transaction: Kysely<Catalog>, itemId: string, field: string): Promise<void> {
  await transaction
    .updateTable("annotation_final_labels")
    .set({ superseded_at: sql`statement_timestamp()` })
    .where("item_id", "=", itemId)
    .where("field", "=", field)
    .where("superseded_at", "is", null)
    .execute()
}

export async function findFinalLabels(
  database: CatalogDatabase,
  itemIds: readonly string[],
): Promise<FinalLabelRecord[]> {
  if (itemIds.length === 0) return []
  return database
    .selectFrom("annotation_final_labels")
    .select(columns)
    .where("item_id", "in", itemIds)
    .where("superseded_at", "is", null)
    .orderBy("field")
    .execute()
}
