/** Salts for the engine's prompt cache: no tenant can time another's prompts, no step reuses another's (inference-api 11.4 rule 6). */
import { createHmac } from "node:crypto"

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
