/** Content digests of the evaluation store: objects 13, calls 6.1. */
import { createHash, hash } from "node:crypto"

/** SHA-256 in URL-safe base64 with `-` as `X` and `_` as `Y`, unpadded: 43 characters of `[A-Za-z0-9]`. */
export function contentDigest(content: string | Uint8Array): string {
  return withoutSigns(hash("sha256", content, "base64url"))
}

/** {@link contentDigest} of content whose SHA-256 is known. */
export function digestOfSha256(sha256: Buffer): string {
  return withoutSigns(sha256.toString("base64url"))
}

function withoutSigns(base64url: string): string {
  return base64url.replaceAll("-", "X").replaceAll("_", "Y")
}

/** Hashed at once: each piece is a call into the library, which takes longer than to hash a digest. */
const digestsAtOnce = 1024

/** SHA-256 in hexadecimal over the digests of the rows, in order, with nothing between. */
export function tableDigest(rowDigests: readonly string[]): string {
  const whole = createHash("sha256")
  for (let from = 0; from < rowDigests.length; from += digestsAtOnce) {
    whole.update(rowDigests.slice(from, from + digestsAtOnce).join(""))
  }
  return whole.digest("hex")
}

/** 43 characters of `[A-Za-z0-9]`, or a SHA-256 in hexadecimal: names nothing but content. */
export function isContentDigest(text: string): boolean {
  return /^(?:[A-Za-z0-9]{43}|[0-9a-fA-F]{64})$/.test(text)
}
