/** Compares how fast calls are found in a store before and after it has grown tenfold. */
import { chosenIds } from "./harness/call-ids.ts"
import { startHeddle } from "./harness/heddle-server.ts"
import { median } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { lookUps } from "./harness/read-cases.ts"
import { fillCalls, measureReads } from "./harness/read-heddle.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Calls in the store before it grows tenfold. */
  calls: { type: "string", default: "1000000" },
  /** How often each read is timed. */
  rounds: { type: "string", default: "25" },
  /** Kind of the ids: uuid7, uuid4 or otel. */
  ids: { type: "string", default: "uuid7" },
  /** Calls in one request that fills the store. */
  batch: { type: "string", default: "1000" },
} as const

const growth = 10
const slowest = 2

export async function run(given: Options): Promise<Findings> {
  const calls = count(given, "calls")
  const filling = { ids: chosenIds(given), batch: count(given, "batch") }
  const rounds = count(given, "rounds")
  const folder = temporaryFolder()
  await using server = await startHeddle(folder, { engine: "none" })
  const before = await measureSize(0, calls)
  const after = await measureSize(calls, calls * growth)
  return {
    method: [
      `One store, first of ${calls} calls, then of ${calls * growth}: about 2 KB each, ten to a trace but for one trace of 50,000, with ids of the kind ${filling.ids}, stored through /v2/{entity}/{project}/calls/complete in batches of ${filling.batch}.`,
      "Each figure: from sending the request over a connection that stays open to the last byte of its answer, uncompressed; each round asks for another call or trace. One round before is not counted. ClickHouse may still be merging what came last.",
    ],
    versions: {},
    settings: { calls, rounds, ...filling },
    measurements: Object.keys(before).flatMap((what) => [
      measurement(`${what}, ${calls} calls`, "ms", before[what] ?? []),
      measurement(`${what}, ${calls * growth} calls`, "ms", after[what] ?? []),
    ]),
    bars: Object.keys(before).map((what) =>
      atMost(
        `${what}, a store ten times as large`,
        slowest,
        median(after[what] ?? []) / median(before[what] ?? []),
        "×",
      ),
    ),
    caveats: [],
  }

  async function measureSize(from: number, to: number): Promise<Record<string, number[]>> {
    await fillCalls(server, from, to, filling)
    const found: Record<string, number[]> = {}
    for (const { what, request } of lookUps(to, filling.ids)) {
      found[what] = await measureReads(server, what, request, rounds)
    }
    return found
  }
}
