/** Mutations that found no room on the disk. chDB leaves an empty file, over which the whole store cannot be opened. */
import { readdir, rm, stat } from "node:fs/promises"
import path from "node:path"
import { namesIn } from "../../file-system/names-in.ts"

const mutationFile = /^mutation_\d+\.txt$/

/** Before the store is opened. What they were to change has to be asked for again; nothing says what it was. */
export async function dropUnwrittenMutations(folder: string): Promise<void> {
  const store = path.join(folder, "store")
  for (const prefix of await namesIn(store)) {
    for (const uuid of await readdir(path.join(store, prefix))) {
      const table = path.join(store, prefix, uuid)
      for (const name of await readdir(table)) {
        const file = path.join(table, name)
        if (mutationFile.test(name) && (await stat(file)).size === 0) await rm(file)
      }
    }
  }
}
