/** H6: requests that do not end. */
import { gzipSync } from "node:zlib"
import { type Attack, type AttackRequest, type BySize, times } from "./attack.ts"

const mebibyte = 1024 ** 2
const path = "/call/upsert_batch"

/** A body of zeros in gzip, without its last bytes. */
function stalledBody(bytes: number): AttackRequest {
  const body = gzipSync(Buffer.alloc(bytes, " ")).subarray(0, -16)
  return { path, body, headers: { "content-encoding": "gzip" }, manner: "does not end its body" }
}

/** Longer than the server waits for a stalled body. */
const minimumSeconds = 40

const largeBytes: BySize = { full: 31 * mebibyte, small: 4 * mebibyte }
const smallBytes: BySize = { full: mebibyte, small: mebibyte / 4 }

const bodies: Attack = {
  name: "H6-bodies",
  does: "76 bodies in gzip, 32 of them large, none of which ends",
  answers: [408],
  lasts: "a while",
  minimumSeconds,
  requests: async (_, size) => {
    const large = stalledBody(largeBytes[size])
    const small = stalledBody(smallBytes[size])
    return [...times(32, () => large), ...times(44, () => small)]
  },
}

const chunked: Attack = {
  name: "H6-chunked",
  does: "100 bodies in chunks that stop after the first",
  answers: [408],
  lasts: "a while",
  minimumSeconds,
  requests: async () => {
    const headers = { "transfer-encoding": "chunked" }
    const body = Buffer.from('5\r\n{"bat\r\n')
    return times(100, () => ({ path, body, headers, manner: "does not end its body" }))
  },
}

const heads: Attack = {
  name: "H6-heads",
  does: "100 requests whose head does not end",
  answers: [408],
  lasts: "until left",
  requests: async () => times(100, () => ({ path, body: Buffer.alloc(0), manner: "does not end its head" })),
}

export const stalledAttacks: readonly Attack[] = [bodies, chunked, heads]
