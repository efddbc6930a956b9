import { HeddleError } from "../errors.ts"

/** Whether the digest that a client computed is ours. @throws {HeddleError} `digest_mismatch`. */
export function checkDigest(what: string, expected: string | null | undefined, digest: string): void {
  if (expected == null || expected === digest) return
  throw new HeddleError(
    "digest_mismatch",
    `the digest of ${what} is ${digest} here, not ${expected} as the client says`,
  )
}
