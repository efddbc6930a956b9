/** Measures a start that deletes the calls past the limit of their project, and what reads notice of it. */
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import { residentMebibytes, treeCpuSeconds } from "./harness/machine.ts"
import { progress, quantile } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { PROJECT_ID } from "./harness/read-cases.ts"
import { fillCalls, measureRead, measureReads, untilAtRest } from "./harness/read-heddle.ts"
import { type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Calls past the limit. */
  calls: { type: "string", default: "300000" },
  /** Calls that stay. */
  young: { type: "string", default: "5000" },
  /** How often each read is timed before and after. */
  rounds: { type: "string", default: "25" },
} as const

const pauseMs = 100
const newest = { sort_by: [{ field: "started_at", direction: "desc" }], limit: 50 }
const engine = { engine: "none" } as const

export async function run(given: Options): Promise<Findings> {
  const [calls, young, rounds] = [count(given, "calls"), count(given, "young"), count(given, "rounds")]
  const folder = temporaryFolder()
  const ids = Array.from({ length: young }, () => randomUUID())
  const reads = {
    "call by id": (round: number) => ({ path: "/call/read", body: { id: ids[round % young] } }),
    "newest 50": () => ({ path: "/calls/stream_query", body: newest }),
    "oldest 50": () => ({ path: "/calls/stream_query", body: { limit: 50 } }),
  }
  const measureAll = async (server: HeddleServer) => {
    const found: Record<string, number[]> = {}
    for (const [what, request] of Object.entries(reads)) found[what] = await measureReads(server, what, request, rounds)
    return found
  }
  let before: Record<string, number[]>
  {
    await using server = await startHeddle(folder, engine)
    await fillCalls(server, 0, calls)
    await sendYoung(server, ids)
    await untilAtRest(server)
    before = await measureAll(server)
  }
  const unlimited = await cpuOfStart(folder)
  await using server = await startHeddle(folder, engine)
  const removal = await watchRemoval(server, young, reads)
  await untilAtRest(server)
  const limited = treeCpuSeconds(server.pid) ?? Number.NaN
  removal.memory.push(residentMebibytes(server.pid))
  const after = await measureAll(server)
  const timed = (values: number[], q: number) => [quantile(values, q)]
  return {
    method: [
      `${calls} calls of about 2 KB, stored through /v2/{entity}/{project}/calls/complete, began before the limit of their project, ${young} stay. The server is started on them; one client at a time reads a call that stays by its id and the newest 50, with a pause of ${pauseMs} ms, until the project shows only those that stay.`,
    ],
    versions: {},
    settings: { calls, young, rounds },
    measurements: [
      measurement("from the start until the calls are gone", "s", [removal.seconds]),
      measurement("processor time of the server until then, its start and the reads included", "s", [
        removal.cpuSeconds,
      ]),
      measurement("processor time until it is at rest, payloads removed", "s", [limited]),
      measurement("the same of a start without a limit or reads", "s", [unlimited]),
      measurement("resident memory when it listens", "MiB", removal.memory.slice(0, 1)),
      measurement("most resident memory", "MiB", [Math.max(...removal.memory)]),
      ...Object.entries(removal.milliseconds).flatMap(([what, values]) => [
        measurement(`${what} meanwhile, median`, "ms", timed(values, 0.5)),
        measurement(`${what} meanwhile, 99 of 100`, "ms", timed(values, 0.99)),
        measurement(`${what} meanwhile, longest`, "ms", timed(values, 1)),
      ]),
      ...Object.keys(reads).flatMap((what) => [
        measurement(`${what} before`, "ms", before[what] ?? []),
        measurement(`${what} after`, "ms", after[what] ?? []),
      ]),
    ],
    bars: [],
    caveats: ["Other programs on the machine lengthen the times, but not the processor time."],
  }
}

/** Processor time of a start on the calls, after which the limit is set for the next. */
async function cpuOfStart(folder: string): Promise<number> {
  await using server = await startHeddle(folder, engine)
  await untilAtRest(server)
  const seconds = treeCpuSeconds(server.pid) ?? Number.NaN
  await server.post("/project/ttl_settings/update", { project_id: PROJECT_ID, retention_days: 30 })
  return seconds
}

async function sendYoung(server: HeddleServer, ids: readonly string[]): Promise<void> {
  const hour = 3600 * 1000
  const call = { project_id: PROJECT_ID, op_name: "young" }
  const payloads = { attributes: {}, inputs: { text: "x".repeat(500) }, output: "y".repeat(500), summary: {} }
  const batch = ids.map((id, index) => {
    const at = new Date(Date.now() - hour - index * 100).toISOString()
    return { ...call, ...payloads, id, trace_id: id, started_at: at, ended_at: at }
  })
  await server.post(`/v2/${PROJECT_ID}/calls/complete`, { batch })
}

type Reads = Record<string, (round: number) => { path: string; body: object }>

interface Removal {
  seconds: number
  cpuSeconds: number
  memory: number[]
  milliseconds: Record<string, number[]>
}

async function watchRemoval(server: HeddleServer, young: number, reads: Reads): Promise<Removal> {
  const began = performance.now()
  const { "call by id": byId, "newest 50": list } = reads
  const milliseconds: Record<string, number[]> = { "call by id": [], "newest 50": [] }
  const memory: number[] = []
  for (let round = 0; ; round++) {
    for (const [what, request] of Object.entries({ "call by id": byId, "newest 50": list })) {
      if (request !== undefined) milliseconds[what]?.push(await measureRead(server, request(round)))
    }
    memory.push(residentMebibytes(server.pid))
    // A count of the whole project is no light request: it is asked for seldom.
    if (round % 20 === 0 && (await shown(server)) === young) break
    await sleep(pauseMs)
  }
  const seconds = (performance.now() - began) / 1000
  progress(`gone after ${seconds.toFixed(1)} s`)
  return { seconds, cpuSeconds: treeCpuSeconds(server.pid) ?? Number.NaN, memory, milliseconds }
}

async function shown(server: HeddleServer): Promise<number> {
  const { count: calls } = await server.post<{ count: number }>("/calls/query_stats", { project_id: PROJECT_ID })
  return calls
}
