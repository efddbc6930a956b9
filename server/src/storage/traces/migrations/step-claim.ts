/**
 * Lets one of the servers that share a store run a step. Each writes a claim and goes on writing it
 * while it lives; the one whose claim is the earliest runs, the others wait until nothing is left to do.
 */
import { randomUUID } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import type { TraceStore } from "../store/trace-store.ts"

const claimTable = `create table if not exists trace_step_claims (
    version UInt32,
    server UUID,
    claimed_at DateTime64(6, 'UTC') default now64(6)
  ) engine = MergeTree order by (version, claimed_at)
  ttl toDateTime(claimed_at) + interval 1 day`

const beatMs = 5_000
/** A claim that was not renewed for so long is that of a server that died. */
const deadAfterSeconds = 60
/** A claim has its time before others can see it; after this long they can. */
const settledMs = 1_000

/** Runs the step here, or waits until another server has. */
export async function withStep(
  traces: TraceStore,
  version: number,
  isNeeded: () => Promise<boolean>,
  run: () => Promise<void>,
): Promise<void> {
  if (traces.isExclusive) return run()
  await traces.command(claimTable)
  const server = randomUUID()
  const claim = () => traces.insert("trace_step_claims", JSON.stringify({ version, server }))
  await claim()
  // A beat that fails leaves the next one; the step itself hears of a store that is away.
  const beat = setInterval(() => void claim().catch(() => undefined), beatMs)
  try {
    await setTimeout(settledMs)
    while (await isNeeded()) {
      if ((await firstClaim(traces, version)) === server) return await run()
      await setTimeout(settledMs)
    }
  } finally {
    clearInterval(beat)
    // Whoever takes over need not wait until the claim is that of a dead server.
    await traces
      .command("delete from trace_step_claims where server = {server:UUID}", { server })
      .catch(() => undefined)
  }
}

async function firstClaim(traces: TraceStore, version: number): Promise<string | undefined> {
  const [row] = await traces.rows<{ server: string }>(
    `select server from trace_step_claims where version = {version:UInt32} group by server
      having max(claimed_at) > now64(6) - interval ${deadAfterSeconds} second
      order by min(claimed_at), server limit 1`,
    { version },
  )
  return row?.server
}
