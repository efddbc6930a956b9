/**
 * Copies of folders that are written to meanwhile, in two passes: the first may take long, the second takes what has changed
 * since, and is done while the stores are held still. So they are held as long as it takes to look at every file, and not
 * as long as it takes to copy all.
 */
import { constants, type BigIntStats } from "node:fs"
import { copyFile, mkdir, readdir, rm, stat } from "node:fs/promises"
import path from "node:path"
import { forEachAtOnce } from "../../work/at-once.ts"
import { linkOrCopy } from "../file-system/link-or-copy.ts"
import { namesIn } from "../file-system/names-in.ts"
import { noneIfGone } from "../file-system/none-if-gone.ts"

/** Entries of one folder that are worked on at a time; the threads for files serve everything else too. */
const atOnce = 4
/** The clock of a file system goes in steps; a file that was written so shortly before it was copied is copied again. */
const uncertainNs = 2_000_000_000n

export interface CopiedTree {
  /** The data folder. */
  source: string
  target: string
  /** Entries of the data folder, files or folders; those that are not there are left out. */
  names: readonly string[]
  signal: AbortSignal
}

/** Called twice for each tree: the second call takes what came since. */
export type Pass = () => Promise<void>

/**
 * Links files that are not changed once they have their names; what is being written ends with `.tmp`. A file that is
 * removed between the passes stays in the copy, unless another one has its name: a step of a model that a cancelled job has left
 * is the step of the next one. Where a name says what the file holds, one that is there is not looked at again.
 */
export function linking({ source, target, names, signal }: CopiedTree, { isNamedByContent = false } = {}): Pass {
  const linked = new Map<string, string>()
  const take = async (name: string, isThere: boolean): Promise<void> => {
    if (isThere && isNamedByContent) return
    const [from, to] = [path.join(source, name), path.join(target, name)]
    const found = await stat(from, { bigint: true }).catch(noneIfGone)
    if (found === null || (isThere && linked.get(name) === versionOf(found))) return
    await rm(to, { force: true })
    await linkOrCopy(from, to).catch(noneIfGone)
    if (!isNamedByContent) linked.set(name, versionOf(found))
  }
  const visit = async (inside: string): Promise<void> => {
    const there = new Set(await namesIn(path.join(target, inside)))
    const entries = await readdir(path.join(source, inside), { withFileTypes: true }).catch(noneIfGone)
    if (entries === null) return
    await mkdir(path.join(target, inside), { recursive: true, mode: 0o700 })
    await forEachAtOnce(entries, atOnce, signal, async (entry) => {
      const name = path.join(inside, entry.name)
      if (entry.name.endsWith(".tmp")) return
      if (entry.isDirectory()) return visit(name)
      await take(name, there.has(entry.name))
    })
  }
  return () => forEachAtOnce(names, atOnce, signal, visit)
}

/** Copies files that are changed, replaced and removed under their names. */
export function copying({ source, target, names, signal }: CopiedTree): Pass {
  const copied = new Map<string, string>()
  /** By the clock of the file system of the data folder. */
  let begun: bigint | null = null
  const visit = async (name: string): Promise<void> => {
    const [from, to] = [path.join(source, name), path.join(target, name)]
    const found = await stat(from, { bigint: true }).catch(noneIfGone)
    if (found === null) return
    if (!found.isDirectory()) return copyIfNew(from, to, found)
    await mkdir(to, { recursive: true, mode: 0o700 })
    const there = await namesIn(from)
    await forEachAtOnce(there, atOnce, signal, (one) => visit(path.join(name, one)))
    const kept = new Set(there)
    const gone = (await readdir(to)).filter((one) => !kept.has(one))
    for (const one of gone) await rm(path.join(to, one), { recursive: true, force: true })
  }
  const copyIfNew = async (from: string, to: string, found: BigIntStats): Promise<void> => {
    const version = versionOf(found)
    const isSettled = begun !== null && found.mtimeNs < begun - uncertainNs
    if (isSettled && copied.get(from) === version) return
    await copyFile(from, to, constants.COPYFILE_FICLONE).catch(noneIfGone)
    copied.set(from, version)
  }
  return async () => {
    const before = (await stat(target, { bigint: true })).ctimeNs
    await forEachAtOnce(names, atOnce, signal, visit)
    begun ??= before
  }
}

function versionOf({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs}`
}
