/** Small values that this server hands out and takes back, and that nobody else can make. */
import { createHmac, timingSafeEqual } from "node:crypto"

/** Characters of a path's part: holds a token with a name of 1,024 characters (`run-inputs.ts`), each of which JSON escapes in six. */
export const longestToken = 9_000

export class SignedTokens {
  readonly #secret: Buffer
  readonly #purpose: string

  /** `purpose`: tokens of one purpose are none of another. */
  constructor(secret: Buffer, purpose: string) {
    this.#secret = secret
    this.#purpose = purpose
  }

  tokenOf(content: unknown): string {
    const text = Buffer.from(JSON.stringify(content)).toString("base64url")
    return `${text}.${this.#sign(text)}`
  }

  /** undefined: this server did not make the token for this purpose. */
  contentOf(token: string): unknown {
    const dot = token.lastIndexOf(".")
    const text = token.slice(0, Math.max(dot, 0))
    const expected = Buffer.from(this.#sign(text))
    const given = Buffer.from(token.slice(dot + 1))
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8"))
  }

  #sign(text: string): string {
    return createHmac("sha256", this.#secret).update(`${this.#purpose}\n${text}`).digest("base64url")
  }
}
