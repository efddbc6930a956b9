/**
 * Feedback without ids whose insert was not answered: nobody knows whether it is stored. The same request again gets the
 * same ids and times, so that its rows take the place of those that may be there. It is known as long as the server runs.
 */
import { createHash, randomUUID } from "node:crypto"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"

/** Decides the ids and times that a request's feedback gets. */
export interface FeedbackAttempt {
  /** The request's {@link attemptKey}. */
  key: string
  /** In milliseconds since 1970. */
  now: number
  seed: string
  /** It was made by an earlier request, whose rows may be stored. */
  isInDoubt: boolean
}

/** Older ones are forgotten; each takes some 200 bytes. */
const mostInDoubt = 10_000

const inDoubt = new WeakMap<TraceStore, Map<string, FeedbackAttempt>>()

/** A new attempt, or the one in doubt, which is then taken by this request and no other. */
export function beginAttempt(traces: TraceStore, key: string): FeedbackAttempt {
  const attempts = inDoubt.get(traces)
  const before = attempts?.get(key)
  attempts?.delete(key)
  return before ?? { key, now: Date.now(), seed: randomUUID(), isInDoubt: false }
}

export function leaveInDoubt(traces: TraceStore, attempt: FeedbackAttempt): void {
  const attempts = inDoubt.get(traces) ?? new Map<string, FeedbackAttempt>()
  inDoubt.set(traces, attempts.set(attempt.key, { ...attempt, isInDoubt: true }))
  for (const key of attempts.keys()) {
    if (attempts.size <= mostInDoubt) break
    attempts.delete(key)
  }
}

/** The same for the same content from the same user. */
export function attemptKey(userId: string, form: string, content: Uint8Array | string): string {
  return createHash("sha256").update(`${userId} ${form} `).update(content).digest("hex")
}

/** A UUID of version 7, the same for the same attempt and place in its request. */
export function madeId({ now, seed }: FeedbackAttempt, index: number): string {
  const bytes = createHash("sha256").update(`${seed} ${index}`).digest().subarray(0, 16)
  bytes.writeUIntBE(now, 0, 6)
  return uuidOf(bytes, 7)
}

/**
 * A UUID of version 8: the id of what replaces other feedback. It is the same for the same content from the same user, so
 * that a request which is sent again, its answer lost, finds what the first one stored.
 * @param key the request's {@link attemptKey}.
 */
export function replacementId(key: string): string {
  return uuidOf(Buffer.from(key, "hex").subarray(0, 16), 8)
}

function uuidOf(bytes: Buffer, version: number): string {
  bytes.writeUInt8((version << 4) | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}
