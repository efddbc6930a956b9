/**
 * A copy of the embedded trace store's folder. ClickHouse hard-links the parts of a table, which it never writes to again,
 * into the folder `shadow` (`freeze`); what says which tables there are is copied beside them. The layout is that of its
 * Atomic databases: `store/<first three of the UUID>/<UUID>` holds the statements of a database or the parts of a table, and
 * `metadata` and `data` hold links into it.
 */
import { copyFile, mkdir, readdir, readlink, rm, symlink } from "node:fs/promises"
import path from "node:path"
import { move } from "../../backup/move.ts"
import { noneIfGone } from "../../file-system/none-if-gone.ts"

/** Folder of `shadow` with the parts of a backup in progress; ClickHouse writes other signs than letters in its own way. */
export const frozenName = "heddle"

/** Removes what a backup that was cut off has frozen. */
export function dropFrozen(folder: string): Promise<void> {
  return rm(frozenFolder(folder), { recursive: true, force: true })
}

/**
 * Copies the definitions of databases and tables, and the mutations: a part that one has not reached yet is still to be
 * changed by it. Call it before the parts are frozen, which then have all that the copied mutations had done.
 */
export async function copyDefinitions(folder: string, target: string): Promise<void> {
  for (const links of ["metadata", "data/default"]) {
    await mkdir(path.join(target, links), { recursive: true })
    await copyEntries(path.join(folder, links), path.join(target, links))
  }
  for (const prefix of await readdir(path.join(folder, "store"))) {
    for (const uuid of await readdir(path.join(folder, "store", prefix))) {
      const inside = path.join("store", prefix, uuid)
      await mkdir(path.join(target, inside), { recursive: true })
      await copyEntries(path.join(folder, inside), path.join(target, inside))
    }
  }
}

/** Moves the parts that were frozen into the copied tables. */
export async function moveFrozen(folder: string, target: string): Promise<void> {
  const frozen = path.join(frozenFolder(folder), "store")
  for (const prefix of await readdir(frozen)) {
    for (const uuid of await readdir(path.join(frozen, prefix))) {
      const table = path.join(frozen, prefix, uuid)
      for (const part of await readdir(table)) {
        await move(path.join(table, part), path.join(target, "store", prefix, uuid, part))
      }
    }
  }
  await dropFrozen(folder)
}

function frozenFolder(folder: string): string {
  return path.join(folder, "shadow", frozenName)
}

/** Files and links of one folder; those that ClickHouse is still writing are named `tmp…`. */
async function copyEntries(folder: string, target: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const [from, to] = [path.join(folder, entry.name), path.join(target, entry.name)]
    if (entry.name.startsWith("tmp")) continue
    if (entry.isSymbolicLink()) await symlink(await readlink(from), to)
    else if (entry.name === "detached") await mkdir(to)
    // A mutation that has ended is removed at any time.
    else if (entry.isFile()) await copyFile(from, to).catch(noneIfGone)
  }
}
