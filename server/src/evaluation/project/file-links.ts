/** Addresses under which a file can be fetched without a key for a while, as `<img>` and download tools need them. */
import { createHmac, timingSafeEqual } from "node:crypto"
import { HeddleError } from "../../errors.ts"

const lifetimeMs = 15 * 60 * 1000

export interface LinkedFile {
  projectId: string
  digest: string
}

/** What a link is made of: project, digest, and when it ends in milliseconds of Unix time. */
type Content = [projectId: string, digest: string, endsAt: number]

export class FileLinks {
  readonly #secret: Buffer

  constructor(secret: Buffer) {
    this.#secret = secret
  }

  /** `now`: milliseconds of Unix time. */
  endOf(now: number): number {
    return now + lifetimeMs
  }

  tokenOf({ projectId, digest }: LinkedFile, endsAt: number): string {
    const content: Content = [projectId, digest, endsAt]
    const text = Buffer.from(JSON.stringify(content)).toString("base64url")
    return `${text}.${this.#sign(text)}`
  }

  /** @throws {HeddleError} `not_found` for a token that this server did not make, or that has ended. */
  fileOf(token: string, now: number): LinkedFile {
    const dot = token.lastIndexOf(".")
    const text = token.slice(0, Math.max(dot, 0))
    const expected = Buffer.from(this.#sign(text))
    const given = Buffer.from(token.slice(dot + 1))
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw new HeddleError("not_found", "this address was not made by this server; resolve the file again")
    }
    const [projectId, digest, endsAt] = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as Content
    if (endsAt > now) return { projectId, digest }
    throw new HeddleError(
      "not_found",
      `this address ended at ${new Date(endsAt).toISOString()}; resolve the file again`,
    )
  }

  #sign(text: string): string {
    return createHmac("sha256", this.#secret).update(`file link\n${text}`).digest("base64url")
  }
}
