import { constants } from "node:fs"
import { copyFile, link } from "node:fs/promises"

/** Another disk, a file system without links, or more links than it allows. */
const unlinkable = ["EXDEV", "EPERM", "EMLINK", "ENOTSUP"]

/** Makes `to` a second name of the file `from`, which is not changed any more, or a copy where there can be none. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (!unlinkable.includes(error.code ?? "")) throw error
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  })
}
