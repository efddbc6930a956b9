/** Salts for the engine's prompt cache: no tenant can time another's prompts, no step reuses another's (inference-api 11.4 rule 6). */
import { createHmac, randomBytes } from "node:crypto"
import { link, readFile, rm, writeFile } from "node:fs/promises"
import path from "node:path"

/** The secret of this data folder, made at its first use. Two servers that start together agree on one. */
export async function loadServerSecret(dataDir: string): Promise<Buffer> {
  const file = path.join(dataDir, "server-secret")
  const mine = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`
  await writeFile(mine, randomBytes(32).toString("hex"), { mode: 0o600, flush: true })
  // A hard link fails where the name exists: the first one stays.
  await link(mine, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error
  })
  await rm(mine)
  return Buffer.from(await readFile(file, "utf8"), "hex")
}

const rememberedSalts = 10_000

export class CacheSalts {
  readonly #secret: Buffer
  /** Rollouts ask for the same few again and again. */
  readonly #known = new Map<string, string>()

  constructor(secret: Buffer) {
    this.#secret = secret
  }

  /** `clientSalt`: the request's own `cache_salt`. */
  salt(projectId: string, weightsKey: string, clientSalt: string): string {
    const parts = JSON.stringify([projectId, weightsKey, clientSalt])
    const known = this.#known.get(parts)
    if (known !== undefined) return known
    const salt = createHmac("sha256", this.#secret).update(parts).digest("base64url")
    if (this.#known.size >= rememberedSalts) this.#known.clear()
    this.#known.set(parts, salt)
    return salt
  }
}
