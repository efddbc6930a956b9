/** Measures how fast calls are found and read over HTTP, on a store filled through the public API. */
import { chosenIds } from "./harness/call-ids.ts"
import { peerVersions } from "./harness/environments.ts"
import { startHeddle } from "./harness/heddle-server.ts"
import { median } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atLeast, atMost, type Findings, measurement } from "./harness/result.ts"
import { lookUps, needle, readCases } from "./harness/read-cases.ts"
import {
  type Filling,
  fillCalls,
  largeBatches,
  measureInTurn,
  measureReads,
  untilAtRest,
} from "./harness/read-heddle.ts"
import { measurePeers } from "./harness/read-peers.ts"

export const options = {
  /** Calls in the store. */
  calls: { type: "string", default: "1000000" },
  /** How often each read is timed. */
  rounds: { type: "string", default: "9" },
  /** Kind of the ids: uuid7, uuid4 or otel. */
  ids: { type: "string", default: "uuid7" },
  /** Calls in one request that fills the store. */
  batch: { type: "string", default: "1000" },
  /** Calls of the store that is compared with those of the peers; Phoenix takes 8 minutes to show 70,000. */
  "peer-calls": { type: "string", default: "70000" },
  /** Leave out the peers. */
  "no-peers": { type: "boolean", default: false },
} as const

interface CaseTimes {
  what: string
  atMostMs: number | null
  milliseconds: number[]
}

export async function run(given: Options): Promise<Findings> {
  const calls = count(given, "calls")
  const rounds = count(given, "rounds")
  const filling = { ids: chosenIds(given), batch: count(given, "batch") }
  const results = await measureHeddle(calls, rounds, filling)
  const versus = given["no-peers"] === true ? null : await besidePeers(count(given, "peer-calls"), rounds)
  return {
    method: [
      `${calls} calls of about 2 KB, ten to a trace but for one trace of 50,000, with ids of the kind ${filling.ids}, stored in batches of ${filling.batch} through /v2/{entity}/{project}/calls/complete; one of them holds the word "${needle}".`,
      "Each figure: from sending the request over a connection that stays open to the last byte of its answer, uncompressed; each round asks for another call, trace or number, and the first three cases take turns. One round before is not counted. The store has merged what was stored but where it says so: beside its merges, which take both cores for about a minute.",
      "Phoenix and MLflow hold the same payloads as OTLP spans and are asked over the API of their own pages: Phoenix by GraphQL with all attributes of a span; MLflow lists traces without their spans, and finds no single span and no number within JSON. What a peer does not answer within a minute is left out.",
    ],
    versions: { ...peerVersions("phoenix", "arize-phoenix"), ...peerVersions("mlflow", "mlflow") },
    settings: { calls, rounds, ...filling, ...(versus === null ? {} : { peer_calls: String(given["peer-calls"]) }) },
    measurements: [
      ...results.map(({ what, milliseconds }) => measurement(what, "ms", milliseconds)),
      ...(versus?.measurements ?? []),
    ],
    bars: [
      ...results.flatMap(({ what, atMostMs, milliseconds }) =>
        atMostMs === null ? [] : [atMost(what, atMostMs, median(milliseconds), "ms")],
      ),
      ...(versus?.bars ?? []),
    ],
    caveats: [],
  }
}

async function measureHeddle(calls: number, rounds: number, filling: Filling): Promise<CaseTimes[]> {
  const folder = temporaryFolder()
  await using server = await startHeddle(folder, { engine: "none" })
  await fillCalls(server, 0, calls, filling)
  const cases = readCases(calls, filling.ids)
  const quick = lookUps(calls, filling.ids).map((one) => ({ ...one, server }))
  const besideMerges = await measureInTurn(quick, rounds)
  await untilAtRest(server)
  const atRest = await measureInTurn(quick, rounds * quickOften)
  const results: CaseTimes[] = quick.map(({ what }, index) => ({
    what: `${what}, while the store merges`,
    atMostMs: null,
    milliseconds: besideMerges[index] as number[],
  }))
  for (const [index, { what, atMostMs, request }] of cases.entries()) {
    const milliseconds = atRest[index] ?? (await measureReads(server, what, request, rounds))
    results.push({ what, atMostMs, milliseconds })
  }
  return results
}

/** Look-ups are measured beside the merges of a store that was filled just now, too; at rest so many times as often. */
const quickOften = 12

/** Measures all three stores with `calls` calls, one after the other; a case that neither peer can do gets no bar. */
async function besidePeers(calls: number, rounds: number): Promise<Pick<Findings, "measurements" | "bars">> {
  const ours = await measureHeddle(calls, rounds, largeBatches)
  const peers = await measurePeers(calls, rounds)
  const measurements = ours.map(({ what, milliseconds }) =>
    measurement(`Heddle, ${calls} calls, ${what}`, "ms", milliseconds),
  )
  const bars: Findings["bars"] = []
  for (const { what, milliseconds } of ours) {
    const medians: number[] = []
    for (const [name, times] of peers) {
      const theirs = times.get(what)
      if (theirs === undefined) continue
      measurements.push(measurement(`${name}, ${calls} calls, ${what}`, "ms", theirs))
      medians.push(median(theirs))
    }
    if (medians.length > 0)
      bars.push(atLeast(`${what}, against the better peer`, 3, Math.min(...medians) / median(milliseconds), "×"))
  }
  return { measurements, bars }
}
