/** Moves folders, also to another disk. */
import { constants } from "node:fs"
import { cp, rename, rm } from "node:fs/promises"

/** Moves a file or folder; to another disk it is copied. There must be nothing of the name `target`. */
export async function move(source: string, target: string): Promise<void> {
  if (!(await renamed(source, target))) await moveByCopy(source, target)
}

/** false: nothing was done, because `target` is on another disk. */
export async function renamed(source: string, target: string): Promise<boolean> {
  try {
    await rename(source, target)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error
    return false
  }
}

export async function moveByCopy(source: string, target: string): Promise<void> {
  await cp(source, target, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
  await rm(source, { recursive: true })
}
