/** Whether a prompt goes on from what an earlier turn of its rollout ended with. */
import { createHash } from "node:crypto"
import type { EarlierRun } from "../storage/catalog/training/rollout-turns.ts"
import type { TurnRun } from "../storage/catalog/training/rollouts-schema.ts"

/** The token run of one prompt and its sampled answer. */
export function runOf(promptIds: readonly number[], sampledIds: readonly number[]): TurnRun {
  const hash = createHash("sha256").update(bytesOf(promptIds)).update(bytesOf(sampledIds))
  return { tokens: promptIds.length + sampledIds.length, hash: shortened(hash.digest()) }
}

/** The turn with the longest run that the prompt begins with; of equal ones the first. null: there is none. */
export function extendedTurn(promptIds: readonly number[], earlier: readonly EarlierRun[]): string | null {
  const byLength = Map.groupBy(
    earlier.filter(({ tokens }) => tokens <= promptIds.length),
    ({ tokens }) => tokens,
  )
  const hash = createHash("sha256")
  let hashed = 0
  let found: string | null = null
  for (const tokens of [...byLength.keys()].toSorted((one, other) => one - other)) {
    hash.update(bytesOf(promptIds.slice(hashed, tokens)))
    hashed = tokens
    const digest = shortened(hash.copy().digest())
    found = byLength.get(tokens)?.find((run) => run.hash === digest)?.turn ?? found
  }
  return found
}

function bytesOf(ids: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(ids).buffer)
}

function shortened(digest: Buffer): string {
  return digest.toString("base64url", 0, 18)
}
