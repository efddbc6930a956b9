/** The secret that belongs to a data folder: it signs addresses of files and keeps prompt caches of tenants apart. */
import { randomBytes } from "node:crypto"
import { link, readFile, rm, writeFile } from "node:fs/promises"
import path from "node:path"

export interface ServerSecret {
  secret: Buffer
  /** There was no file. */
  isNew: boolean
}

/**
 * Made at its first use. Two servers that start together agree on one.
 * @throws {Error} with a sentence for the operator when the file holds something else.
 */
export async function loadServerSecret(dataDir: string): Promise<ServerSecret> {
  const file = secretFileOf(dataDir)
  const mine = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`
  await writeFile(mine, randomBytes(32).toString("hex"), { mode: 0o600, flush: true })
  // A hard link fails where the name exists: the first one stays.
  const isNew = await link(mine, file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error
      return false
    },
  )
  await rm(mine)
  const text = (await readFile(file, "utf8")).trim()
  // Anything else would be read as a shorter key, an empty one at worst, with which everybody could sign.
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new Error(`the file ${file} is damaged: it holds no 64 hexadecimal digits. ${wayOut}`)
  return { secret: Buffer.from(text, "hex"), isNew }
}

export function notTheSecretOf(dataDir: string): Error {
  return new Error(`the file ${secretFileOf(dataDir)} is another one than this data folder was used with. ${wayOut}`)
}

export const secretFileOf = (dataDir: string): string => path.join(dataDir, "server-secret")

const wayOut =
  "Restore it from a backup of the folder. If there is none, delete it: the next start makes a new one, " +
  "and the addresses of files that were given out end"
