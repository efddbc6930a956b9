/** What the long texts of a version count for the quota of its team. Before the commit they count nothing. */
import { HeddleError } from "../../../errors.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { bytesOfArtifact } from "./artifacts.ts"

/**
 * Does `work`, which changes texts of a committed version, in a transaction that has the project's turn; returns the bytes
 * that they have now more than before, to be counted after it. @throws {HeddleError} `not_found`.
 */
export async function countTexts(transaction: CatalogDatabase, id: string, work: () => Promise<void>): Promise<number> {
  const before = await textBytes(transaction, id)
  await work()
  const added = (await textBytes(transaction, id)) - before
  if (added !== 0) {
    await transaction
      .updateTable("artifacts")
      .set((eb) => ({ stored_bytes: eb("stored_bytes", "+", added) }))
      .where("id", "=", id)
      .execute()
  }
  return added
}

async function textBytes(transaction: CatalogDatabase, id: string): Promise<number> {
  const row = await transaction.selectFrom("artifacts").select(bytesOfArtifact).where("id", "=", id).executeTakeFirst()
  if (row === undefined) throw new HeddleError("not_found", "the artifact was deleted before it was changed")
  return row.bytes
}
