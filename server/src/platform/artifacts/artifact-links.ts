/** Addresses at which the wandb client stores and fetches what artifacts hold, without a key: platform-wandb 1, 9. */
import { HeddleError } from "../../errors.ts"
import { SignedTokens } from "../../http/signed-tokens.ts"

/** A client that stores or fetches thousands of files asks for all addresses first. */
const lifetimeMs = 12 * 60 * 60 * 1000

/**
 * What an address is for, and of what: `file` and `fetch` of an artifact and a digest, `manifest` of a manifest and its
 * digest, `part` of an upload in parts and a number, `contents` of an artifact whose manifest is fetched.
 */
export interface ArtifactLink {
  use: "file" | "manifest" | "part" | "fetch" | "contents"
  id: string
  what: string
  /** Of the artifact. */
  projectId: string
  /** The key that it was made with; without that key it opens nothing any more. */
  apiKeyId: string
}

/** When it ends is in milliseconds of Unix time. */
type Content = [use: ArtifactLink["use"], id: string, what: string, endsAt: number, apiKeyId: string, projectId: string]

const storing: ReadonlySet<ArtifactLink["use"]> = new Set(["file", "manifest", "part"])

export class ArtifactLinks {
  readonly #tokens: SignedTokens

  constructor(secret: Buffer) {
    this.#tokens = new SignedTokens(secret, "file of an artifact")
  }

  /** The path of an address. `now`: milliseconds of Unix time. */
  pathOf({ use, id, what, apiKeyId, projectId }: ArtifactLink, now: number): string {
    const content: Content = [use, id, what, now + lifetimeMs, apiKeyId, projectId]
    return `/artifactsV2/${storing.has(use) ? "upload" : "direct"}/${this.#tokens.tokenOf(content)}`
  }

  /** @throws {HeddleError} `not_found` for a token that this server did not make for this, or that has ended. */
  linkOf(token: string, stores: boolean, now: number): ArtifactLink {
    const content = this.#tokens.contentOf(token) as Content | undefined
    // One that an older version made has no project.
    if (content?.length !== 6 || storing.has(content[0]) !== stores) {
      throw new HeddleError("not_found", "this address was not made by this server; ask for the file's address again")
    }
    const [use, id, what, endsAt, apiKeyId, projectId] = content
    if (endsAt > now) return { use, id, what, apiKeyId, projectId }
    const ended = new Date(endsAt).toISOString()
    throw new HeddleError("not_found", `this address ended at ${ended}; ask for the file's address again`)
  }
}
