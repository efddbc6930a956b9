/** Addresses at which the wandb client stores and fetches files of a run without a key: platform-wandb 1, 8. */
import { HeddleError } from "../../errors.ts"
import { SignedTokens } from "../../http/signed-tokens.ts"
import type { RouteAccess } from "../../wire/platform/access.ts"

/** The client tries a failed upload again for about that long. */
const lifetimeMs = 60 * 60 * 1000

export type RunFileUse = "store" | "fetch"

/** What a caller needs for an address of this use, of a file of a run or an artifact. */
export const accessOfUse = {
  store: { right: "write", ingest: true },
  fetch: { right: "read" },
} as const satisfies Record<RunFileUse, Omit<RouteAccess, "of">>

export interface RunFileLink {
  use: RunFileUse
  runId: string
  name: string
  /** The key that it was made with; without that key it opens nothing any more. */
  apiKeyId: string
}

/** When it ends is in milliseconds of Unix time. */
type Content = [use: RunFileUse, runId: string, name: string, endsAt: number, apiKeyId: string]

export class RunFileLinks {
  readonly #tokens: SignedTokens

  constructor(secret: Buffer) {
    this.#tokens = new SignedTokens(secret, "file of a run")
  }

  /** The path of an address that is good for an hour. `now`: milliseconds of Unix time. */
  pathOf({ use, runId, name, apiKeyId }: RunFileLink, now: number): string {
    const content: Content = [use, runId, name, now + lifetimeMs, apiKeyId]
    return `/files/${use === "store" ? "upload" : "direct"}/${this.#tokens.tokenOf(content)}`
  }

  /** @throws {HeddleError} `not_found` for a token that this server did not make for this use, or that has ended. */
  linkOf(token: string, use: RunFileUse, now: number): RunFileLink {
    const content = this.#tokens.contentOf(token) as Content | undefined
    if (content === undefined || content[0] !== use) {
      throw new HeddleError("not_found", "this address was not made by this server; ask for the file's address again")
    }
    const [, runId, name, endsAt, apiKeyId] = content
    if (endsAt > now) return { use, runId, name, apiKeyId }
    const ended = new Date(endsAt).toISOString()
    throw new HeddleError("not_found", `this address ended at ${ended}; ask for the file's address again`)
  }
}
