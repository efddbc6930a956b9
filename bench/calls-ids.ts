/** Compares how fast calls are found whatever their ids are: random ones against those that hold a time. */
import { type IdKind, idKinds } from "./harness/call-ids.ts"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import { median } from "./harness/measure.ts"
import { count, counts, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { lookUps } from "./harness/read-cases.ts"
import { fillCalls, measureInTurn, untilAtRest } from "./harness/read-heddle.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Calls in a store; several numbers with commas between are measured one after the other. */
  calls: { type: "string", default: "100000,1000000" },
  /** Calls in one request that fills a store; several as above. */
  batches: { type: "string", default: "50,1000" },
  /** How often each read is timed. */
  rounds: { type: "string", default: "50" },
} as const

/** Their ids hold the time of the call, which is the order of the store. */
const ordered: IdKind = "uuid7"
const mostSlower = 1.5

interface Times {
  what: string
  kind: IdKind
  milliseconds: number[]
}

export async function run(given: Options): Promise<Findings> {
  const [sizes, batches, rounds] = [counts(given, "calls"), counts(given, "batches"), count(given, "rounds")]
  const found: Times[] = []
  for (const calls of sizes) {
    for (const batch of batches) found.push(...(await measureStores(calls, batch, rounds)))
  }
  return {
    method: [
      "Three servers at once, each with a store of its own of the same calls of about 2 KB, ten to a trace but for one trace of 50,000, under ids of another kind: UUIDs of version 7, which hold a time, random UUIDs of version 4, and those of OpenTelemetry's spans, 8 random bytes. Stored through /v2/{entity}/{project}/calls/complete; each store has merged what was stored.",
      "Each figure: from sending the request over a connection that stays open to the last byte of its answer, uncompressed. Stores and reads take turns; each round asks for another call or trace by id. One round before is not counted. A bar is about the slower of the two random kinds.",
    ],
    versions: {},
    settings: { calls: sizes.join(), batches: batches.join(), rounds },
    measurements: found.map(({ what, kind, milliseconds }) => measurement(`${what}, ${kind}`, "ms", milliseconds)),
    bars: [...Map.groupBy(found, ({ what }) => what)].map(([what, times]) => {
      const medians = new Map(times.map(({ kind, milliseconds }) => [kind, median(milliseconds)]))
      const slowest = Math.max(...idKinds.filter((kind) => kind !== ordered).map((kind) => medians.get(kind) ?? NaN))
      return atMost(`${what}, random ids`, mostSlower, slowest / (medians.get(ordered) ?? NaN), "×")
    }),
    caveats: [],
  }
}

async function measureStores(calls: number, batch: number, rounds: number): Promise<Times[]> {
  await using stack = new AsyncDisposableStack()
  const servers: { kind: IdKind; server: HeddleServer }[] = []
  for (const kind of idKinds) {
    const server = stack.use(await startHeddle(temporaryFolder(), { engine: "none" }))
    await fillCalls(server, 0, calls, { ids: kind, batch })
    servers.push({ kind, server })
  }
  for (const { server } of servers) await untilAtRest(server)
  const reads = servers.flatMap(({ kind, server }) =>
    lookUps(calls, kind).map(({ what, request }) => ({ what: `${what}, ${kind}`, name: what, kind, server, request })),
  )
  const found = await measureInTurn(reads, rounds)
  return reads.map(({ name, kind }, index) => ({
    what: `${name}, ${calls} calls in batches of ${batch}`,
    kind,
    milliseconds: found[index] ?? [],
  }))
}
