/** Content digests of the evaluation store: objects 13, calls 6.1. */
import { createHash } from "node:crypto"

/** SHA-256 in URL-safe base64 with `-` as `X` and `_` as `Y`, unpadded: 43 characters of `[A-Za-z0-9]`. */
export function contentDigest(content: string | Uint8Array): string {
  return digestOfSha256(createHash("sha256").update(content).digest())
}

/** {@link contentDigest} of content whose SHA-256 is known. */
export function digestOfSha256(sha256: Buffer): string {
  return sha256.toString("base64url").replaceAll("-", "X").replaceAll("_", "Y")
}

/** SHA-256 in hexadecimal over the digests of the rows, in order, with nothing between. */
export function tableDigest(rowDigests: Iterable<string>): string {
  const hash = createHash("sha256")
  for (const digest of rowDigests) hash.update(digest)
  return hash.digest("hex")
}

/** 43 characters of `[A-Za-z0-9]`, or a SHA-256 in hexadecimal: names nothing but content. */
export function isContentDigest(text: string): boolean {
  return /^(?:[A-Za-z0-9]{43}|[0-9a-fA-F]{64})$/.test(text)
}
