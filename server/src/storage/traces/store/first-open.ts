/**
 * A first start that the disk had no room for, or that was killed, leaves a store that cannot be opened again. A mark in its
 * folder says that nothing was ever stored there, and the next start begins anew.
 */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { syncFolder } from "../../file-system/sync-folder.ts"

const mark = "never-opened"

/** Before the store is opened. */
export async function beginFirstOpen(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const found = await readdir(folder)
  if (found.length > 0 && !found.includes(mark)) return
  // The mark goes last, so that a kill in between leaves it.
  for (const name of found) if (name !== mark) await rm(path.join(folder, name), { recursive: true })
  await writeFile(path.join(folder, mark), "")
}

/**
 * When all tables are there, and before anything is stored in them: from then on a store that cannot be opened has lost
 * something. A mark that came back after a cut of power would cost all.
 */
export async function endFirstOpen(folder: string): Promise<void> {
  await rm(path.join(folder, mark), { force: true })
  await syncFolder(folder)
}
