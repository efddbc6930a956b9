/** Addresses under which a file can be fetched without a key for a while, as `<img>` and download tools need them. */
import { HeddleError } from "../../errors.ts"
import { SignedTokens } from "../../http/signed-tokens.ts"

const lifetimeMs = 15 * 60 * 1000

export interface LinkedFile {
  projectId: string
  digest: string
}

export interface FileLink extends LinkedFile {
  /** The key that it was made with; without that key it opens nothing any more. */
  apiKeyId: string
}

/** Contents of a link; `endsAt` is Unix time in milliseconds. */
type Content = [projectId: string, digest: string, endsAt: number, apiKeyId: string]

export class FileLinks {
  readonly #tokens: SignedTokens

  constructor(secret: Buffer) {
    this.#tokens = new SignedTokens(secret, "file link of a key")
  }

  /** `now`: milliseconds of Unix time. */
  endOf(now: number): number {
    return now + lifetimeMs
  }

  tokenOf({ projectId, digest, apiKeyId }: FileLink, endsAt: number): string {
    const content: Content = [projectId, digest, endsAt, apiKeyId]
    return this.#tokens.tokenOf(content)
  }

  /** @throws {HeddleError} `not_found` for a token that this server did not make, or that has ended. */
  linkOf(token: string, now: number): FileLink {
    const content = this.#tokens.contentOf(token) as Content | undefined
    if (content === undefined) {
      throw new HeddleError("not_found", "this address was not made by this server; resolve the file again")
    }
    const [projectId, digest, endsAt, apiKeyId] = content
    if (endsAt > now) return { projectId, digest, apiKeyId }
    throw new HeddleError(
      "not_found",
      `this address ended at ${new Date(endsAt).toISOString()}; resolve the file again`,
    )
  }
}
