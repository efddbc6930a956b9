/** Whether a data folder that was copied from a backup has all of it: asked once, at the first start on the copy. */
import { readFile, rm } from "node:fs/promises"
import path from "node:path"
import { z } from "zod"
import { namesIn } from "../file-system/names-in.ts"
import { noneIfGone } from "../file-system/none-if-gone.ts"
import { bytesOf } from "./settle.ts"

/** What a backup says of itself. */
export const recordFile = "backup.json"

/** `unused`: no server has started on it, so that its files are those of the backup. */
const unusedSchema = z.object({ bytes: z.int(), unused: z.literal(true) })

/** @throws {Error} with a sentence for the operator. */
export async function requireWholeCopy(dataDir: string): Promise<void> {
  const file = path.join(dataDir, recordFile)
  const text = await readFile(file, "utf8").catch(noneIfGone)
  const unused = text === null ? null : unusedIn(text)
  if (unused === null) return
  const found = await bytesCopied(dataDir)
  if (found < unused.bytes) {
    throw new Error(
      `the data folder ${dataDir} is a copy of a backup without all of its files: they have ${unused.bytes} bytes, and ` +
        `${found} are there. Copy the backup again. To start with what is there, remove ${file}`,
    )
  }
  await rm(file)
}

function unusedIn(text: string): z.output<typeof unusedSchema> | null {
  try {
    return unusedSchema.parse(JSON.parse(text))
  } catch {
    // An earlier version made the backup, and servers may have started on it since; or the file is somebody else's.
    return null
  }
}

async function bytesCopied(dataDir: string): Promise<number> {
  let bytes = 0
  for (const name of await namesIn(dataDir)) {
    // The server that starts has made its locks by now.
    if (name !== recordFile && !name.startsWith("lock")) bytes += await bytesOf(path.join(dataDir, name))
  }
  return bytes
}
