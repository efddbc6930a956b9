/** Whether calls are found as fast in a store that has grown tenfold. */
import { startHeddle } from "./harness/heddle-server.ts"
import { median } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { readCases } from "./harness/read-cases.ts"
import { fillBatch, fillCalls, measureReads } from "./harness/read-heddle.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  calls: { type: "string", default: "1000000" },
  rounds: { type: "string", default: "25" },
} as const

const growth = 10
const slowest = 2
const lookUps = ["newest 50", "call by id", "trace by id"]

export async function run(given: Options): Promise<Findings> {
  const calls = Math.ceil(count(given, "calls") / fillBatch) * fillBatch
  const rounds = count(given, "rounds")
  const folder = temporaryFolder()
  await using server = await startHeddle(folder, { engine: "none" })
  const before = await measureSize(0, calls)
  const after = await measureSize(calls, calls * growth)
  return {
    method: [
      `One store, first of ${calls} calls, then of ${calls * growth}: about 2 KB each, ten to a trace but for one trace of 50,000, stored through /v2/{entity}/{project}/calls/complete.`,
      "Each figure: from sending the request over a connection that stays open to the last byte of its answer, uncompressed; each round asks for another call or trace. One round before is not counted. ClickHouse may still be merging what came last.",
    ],
    versions: {},
    settings: { calls, rounds },
    measurements: lookUps.flatMap((what) => [
      measurement(`${what}, ${calls} calls`, "ms", before[what] ?? []),
      measurement(`${what}, ${calls * growth} calls`, "ms", after[what] ?? []),
    ]),
    bars: lookUps.map((what) =>
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
    await fillCalls(server, from, to)
    const found: Record<string, number[]> = {}
    for (const { what, request } of readCases(to)) {
      if (lookUps.includes(what)) found[what] = await measureReads(server, what, request, rounds)
    }
    return found
  }
}
