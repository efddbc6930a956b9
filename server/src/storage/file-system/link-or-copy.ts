import { constants } from "node:fs"
import { copyFile, link } from "node:fs/promises"

/** Of which a copy would fail as well. */
const final = ["ENOENT", "ENOSPC", "EDQUOT"]

/**
 * Makes `to` a second name of the file `from`, which is not changed any more. It is a copy where there can be none: on another
 * disk, on a file system without links, of a file with as many as there may be.
 */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (final.includes(error.code ?? "")) throw error
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  })
}
