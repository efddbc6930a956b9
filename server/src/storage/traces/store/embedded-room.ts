/**
 * Room on the disk of the embedded store. chDB does not notice that a write found none: a mutation or a definition is then
 * an empty file, and the store cannot be opened again; rows are acknowledged, and gone at the next start. So nothing is begun
 * unless there is room to spare.
 */
import { diskFull } from "../../../errors.ts"
import { isDiskFull, requireFreeBytes } from "../../file-system/disk-space.ts"

/** Bytes that inserts, merges and statements leave free. `keep_free_space_bytes` of embedded-config.xml says the same to chDB. */
export const spareBytes = 8 * 1024 ** 2

/** A statement is written into a file, with its texts escaped. */
const copiesOfStatement = 2

/** @throws {HeddleError} `insufficient_storage` when what the statement writes may find no room */
export async function requireRoom(folder: string, statement: string): Promise<void> {
  await requireFreeBytes(folder, spareBytes + copiesOfStatement * Buffer.byteLength(statement))
}

/** For after an insert. @throws {HeddleError} `insufficient_storage` when others have filled the disk meanwhile */
export async function requireWritten(folder: string): Promise<void> {
  if (await isDiskFull(folder)) throw diskFull()
}
