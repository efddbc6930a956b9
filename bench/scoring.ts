/** Compares ingest with and without a rule that scores one call in a hundred: rate, latency, processor time. */
import { setTimeout as sleep } from "node:timers/promises"
import type { CallBatch } from "./harness/call-batches.ts"
import { CallCorpus, seededRandom } from "./harness/call-corpus.ts"
import { ENTITY, PROJECT } from "./harness/heddle-server.ts"
import { treeCpuSeconds } from "./harness/machine.ts"
import { median, progress, quantile } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { Poster } from "./harness/post.ts"
import { atLeast, type Findings, measurement } from "./harness/result.ts"
import { startHeddleStore, type TraceStoreServer } from "./harness/trace-stores.ts"

export const options = {
  /** Calls that are sent in a second. */
  rate: { type: "string", default: "1000" },
  /** Calls in one request; the rule scores the first of them. */
  batch: { type: "string", default: "100" },
  /** Seconds of each phase. */
  seconds: { type: "string", default: "20" },
  /** How often ingest is timed without the rule, and with it. */
  rounds: { type: "string", default: "4" },
} as const

type Store = TraceStoreServer & { readonly origin: string }

interface Phase {
  callsPerSecond: number
  requestMs: number[]
  cpuMicrosecondsPerCall: number
}

interface Rule {
  id: string
  counters: { seen: number; matched: number; scored: number; waiting: number }
}

const project = `${ENTITY}/${PROJECT}`
/** Number of bodies that are made ahead; each is sent many times with new ids. */
const templates = 20
const settleMs = 120_000

export async function run(given: Options): Promise<Findings> {
  const rounds = count(given, "rounds")
  const load = { rate: count(given, "rate"), batch: count(given, "batch"), seconds: count(given, "seconds") }
  await using server = await startHeddleStore(temporaryFolder())
  const bodies = batches(server, load.batch)
  const poster = new Poster(16)
  let sequence = 0
  const send = async () => {
    const { contentType, fresh } = bodies[sequence % templates] as CallBatch
    await poster.post(server.url, fresh(sequence++), { ...server.headers, "content-type": contentType })
  }
  for (let warm = 0; warm < templates; warm++) await send()
  const rule = await ask<{ rule: Rule }>(server, "POST", "/scoring_rules", {
    project_id: project,
    name: "marked",
    query: { $expr: { $eq: [{ $getField: "inputs.marked" }, { $literal: "yes" }] } },
    scorer: { kind: "length" },
    active: false,
  })
  const phases: { without: Phase[]; within: Phase[] } = { without: [], within: [] }
  let sent = 0
  for (let round = 0; round < rounds; round++) {
    // The order turns each round, so that ingest with the rule comes first as often as ingest without.
    for (const isActive of round % 2 === 0 ? [false, true] : [true, false]) {
      await ask(server, "PUT", `/scoring_rules/${rule.rule.id}`, { project_id: project, active: isActive })
      const phase = await paced(server, load, send)
      if (isActive) sent += phase.requestMs.length
      phases[isActive ? "within" : "without"].push(phase)
      progress(
        `${isActive ? "with" : "without"} the rule: ${phase.callsPerSecond.toFixed(0)} calls/s, p50 ${quantile(phase.requestMs, 0.5).toFixed(1)} ms, ${phase.cpuMicrosecondsPerCall.toFixed(0)} µs of processor time each`,
      )
      if (isActive) await untilScored(server, rule.rule.id, sent)
    }
  }
  poster.close()
  return findings(load, rounds, phases)
}

function batches(server: Store, size: number): CallBatch[] {
  const corpus = new CallCorpus(seededRandom(3))
  return Array.from({ length: templates }, () => {
    const calls = Array.from({ length: size }, () => corpus.next())
    return server.batchOf(
      calls.map((call, at) => (at === 0 ? { ...call, inputs: { ...call.inputs, marked: "yes" } } : call)),
    )
  })
}

async function paced(
  server: Store,
  { rate, batch, seconds }: { rate: number; batch: number; seconds: number },
  send: () => Promise<void>,
): Promise<Phase> {
  const requestMs: number[] = []
  const pending: Promise<void>[] = []
  const cpuBefore = treeCpuSeconds(server.pid) ?? Number.NaN
  const began = performance.now()
  const total = Math.floor((rate * seconds) / batch)
  for (let number = 0; number < total; number++) {
    const wait = began + (number * 1000 * batch) / rate - performance.now()
    if (wait > 0) await sleep(wait)
    const sentAt = performance.now()
    pending.push(send().then(() => void requestMs.push(performance.now() - sentAt)))
  }
  await Promise.all(pending)
  const took = (performance.now() - began) / 1000
  const cpu = (treeCpuSeconds(server.pid) ?? Number.NaN) - cpuBefore
  return {
    callsPerSecond: (total * batch) / took,
    requestMs,
    cpuMicrosecondsPerCall: (cpu * 1e6) / (total * batch),
  }
}

async function untilScored(server: Store, ruleId: string, wanted: number): Promise<void> {
  const deadline = performance.now() + settleMs
  for (;;) {
    const { rule } = await ask<{ rule: Rule }>(
      server,
      "GET",
      `/scoring_rules/${ruleId}?project_id=${encodeURIComponent(project)}`,
    )
    if (rule.counters.scored === wanted && rule.counters.waiting === 0) return
    if (performance.now() > deadline)
      throw new Error(`${JSON.stringify(rule.counters)}, but ${wanted} calls were to be scored`)
    await sleep(200)
  }
}

async function ask<Answer>(server: Store, method: string, url: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${server.origin}${url}`, {
    method,
    headers: { ...server.headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Answer
}

function findings(
  load: { rate: number; batch: number; seconds: number },
  rounds: number,
  { without, within }: { without: Phase[]; within: Phase[] },
): Findings {
  const rates = (phases: Phase[]) => phases.map(({ callsPerSecond }) => callsPerSecond)
  const latencies = (phases: Phase[], at: number) => phases.map(({ requestMs }) => quantile(requestMs, at))
  const cpu = (phases: Phase[]) => phases.map(({ cpuMicrosecondsPerCall }) => cpuMicrosecondsPerCall)
  const ratio = median(rates(within)) / median(rates(without))
  return {
    method: [
      `Calls of about 2 KB in requests of ${load.batch}, ${load.rate} a second for ${load.seconds} s, with the rule paused and with the rule at work by turns, ${rounds} times each, on one server. The rule asks for a text of the inputs that one call in ${load.batch} has, and scores it with a function. After each phase with the rule every one of these calls must have been scored.`,
    ],
    versions: {},
    settings: { ...load, rounds },
    measurements: [
      measurement("calls stored, without a rule", "calls/s", rates(without)),
      measurement("calls stored, with the rule", "calls/s", rates(within)),
      measurement("one request, p50, without a rule", "ms", latencies(without, 0.5)),
      measurement("one request, p50, with the rule", "ms", latencies(within, 0.5)),
      measurement("one request, p95, without a rule", "ms", latencies(without, 0.95)),
      measurement("one request, p95, with the rule", "ms", latencies(within, 0.95)),
      measurement("processor time of a call, without a rule", "µs", cpu(without)),
      measurement("processor time of a call, with the rule and its scoring", "µs", cpu(within)),
    ],
    bars: [atLeast("calls stored with the rule, of those without", 0.97, ratio, "×")],
    caveats: [],
  }
}
