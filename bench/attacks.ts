/** Measures another team's waits during an attack on the server: each of `server/test/support/attacks`, in full. */
import { setTimeout as sleep } from "node:timers/promises"
import { attacks } from "../server/test/support/attacks/attack-list.ts"
import type { Attack, Ground } from "../server/test/support/attacks/attack.ts"
import { makeHostileBases, openSilentHub } from "../server/test/support/attacks/hostile-bases.ts"
import { isExpected } from "../server/test/support/attacks/send-attack.ts"
import { makeTeam, type OtherTeam, readerOf, settleOtherTeam } from "../server/test/support/attacks/teams.ts"
import { busyGauges } from "../server/test/support/metrics.ts"
import { prepareAttacker } from "./harness/attacker.ts"
import { engineVersions } from "./harness/environments.ts"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import { descendants, mebibytesOf } from "./harness/machine.ts"
import { median, progress, quantile } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atMost, type Bar, type Findings, type Measurement, measurement } from "./harness/result.ts"

export const options = {
  /** Names of attacks or their findings, with commas between; all when empty. */
  attack: { type: "string", default: "" },
  /** How long each attack lasts. */
  seconds: { type: "string", default: "10" },
} as const

const everyMs = 100
const idleSeconds = 2
/** Time for the server to come to rest; every time limit of the server on a wait is shorter. */
const settleMs = 120_000

interface Waits {
  light: number[]
  chat: number[]
  /** Light requests and chats that failed or got another status than 200. */
  failed: number
}

interface Report {
  attack: Attack
  idle: Waits
  attacked: Waits
  /** How often the attacker got each status. */
  outcomes: Record<string, number>
  serverMebibytes: number
  /** 0 when the engine was not started. */
  engineMebibytes: number
  /** Time until nothing runs or waits any more; Infinity when that took more than two minutes. */
  settledMs: number
}

export async function run(given: Options): Promise<Findings> {
  const seconds = count(given, "seconds")
  const chosen = chosenAttacks(String(given["attack"]))
  const reports: Report[] = []
  for (const attack of chosen) {
    const report = await measure(attack, Math.max(seconds, attack.minimumSeconds ?? 0))
    progress(summaryOf(report))
    reports.push(report)
  }
  return {
    method: [
      "For each attack a new server as `npm start` starts it, with its default limits, and the engine with heddle/tiny where chat is attacked; two teams of one member each.",
      `One team carries out the attack for ${seconds} s or longer: each of its connections sends its request again once it is answered, at most ten times a second. The other sends a light request every ${everyMs} ms, by turns a read of the catalog and \`/call/read\`, and where chat is attacked also a chat of 2 tokens, whether or not the one before is answered. The attacker is a thread, so that building its bodies does not delay what is measured; client and server share the machine.`,
      "Expected answers are those that the attack's definition lists, 429 and 503. The time to rest is from the attacker's leaving to the moment when `GET /metrics` tells that nothing runs or waits.",
    ],
    versions: engineVersions("torch"),
    settings: { seconds, attacks: chosen.length },
    measurements: [
      measurement(
        "light request before the attacks",
        "ms",
        reports.flatMap(({ idle }) => idle.light),
      ),
      ...reports.flatMap(measurementsOf),
    ],
    bars: [...reports.flatMap(barsOf), ...barsOfAll(reports)],
    caveats: [],
  }
}

function chosenAttacks(text: string): Attack[] {
  const names = text.split(",").filter(Boolean)
  const isNamed = (attack: Attack, name: string) => attack.name === name || attack.name.startsWith(`${name}-`)
  const unknown = names.find((name) => !attacks.some((attack) => isNamed(attack, name)))
  if (unknown !== undefined) {
    throw new Error(`--attack ${unknown}: choose of ${attacks.map((attack) => attack.name).join(", ")}`)
  }
  return attacks.filter((attack) => names.length === 0 || names.some((name) => isNamed(attack, name)))
}

async function measure(attack: Attack, seconds: number): Promise<Report> {
  const bases = temporaryFolder()
  await using hub = await openSilentHub()
  const env = {
    ...(await makeHostileBases(bases)),
    ...hub.env,
    HF_HUB_OFFLINE: "",
    HEDDLE_LIMIT_KEY_REQUESTS_PER_MINUTE: "",
  }
  const withEngine = attack.onChat === true
  await using server = await startHeddle(temporaryFolder(), { engine: withEngine ? "process" : "none", env })
  const ground: Ground = { url: server.url, attacker: await makeTeam(server.url, server.adminKey, "attacker"), bases }
  const other = await settleOtherTeam(server.url, await makeTeam(server.url, server.adminKey, "other"))
  const attacker = await prepareAttacker({ attack: attack.name, ground })
  const ask = (duration: number) => askRegularly(other, withEngine, duration * 1000)
  await ask(1)
  const idle = await ask(idleSeconds)
  const memory = watchMemory(server.pid)
  attacker.begin()
  const attacked = await ask(seconds)
  const outcomes = await attacker.leave()
  const settledMs = await untilRest(server)
  return { attack, idle, attacked, outcomes, settledMs, ...memory.stop() }
}

/** Sends light requests, and chats if wanted, at equal intervals; resolves when all are answered. */
async function askRegularly(other: OtherTeam, chats: boolean, durationMs: number): Promise<Waits> {
  const waits: Waits = { light: [], chat: [], failed: 0 }
  const requests: Promise<void>[] = []
  const ask = async (one: () => Promise<number>, into: number[]) => {
    const began = performance.now()
    const status = await one().catch(() => null)
    into.push(performance.now() - began)
    if (status !== 200) waits.failed++
  }
  const ends = performance.now() + durationMs
  for (let next = performance.now(); next < ends; next += everyMs) {
    await sleep(Math.max(0, next - performance.now()))
    requests.push(ask(other.light, waits.light))
    if (chats) requests.push(ask(other.chat, waits.chat))
  }
  await Promise.all(requests)
  return waits
}

/** Watches the memory of the server and of its engine; `stop` returns the most that each held. */
function watchMemory(server: number) {
  const peak = { serverMebibytes: 0, engineMebibytes: 0 }
  const look = () => {
    const [, ...others] = descendants(server)
    peak.serverMebibytes = larger(peak.serverMebibytes, mebibytesOf([server]))
    peak.engineMebibytes = larger(peak.engineMebibytes, mebibytesOf(others))
  }
  const watch = setInterval(look, 200)
  return {
    stop: () => {
      clearInterval(watch)
      look()
      return peak
    },
  }
}

/** The larger of both; `before` when `now` is NaN, because a process ended while its memory was read. */
const larger = (before: number, now: number) => (now > before ? now : before)

/** Milliseconds until nothing runs or waits any more. */
async function untilRest({ url, adminKey }: HeddleServer): Promise<number> {
  const admin = readerOf(url, adminKey)
  const began = performance.now()
  while (performance.now() - began < settleMs) {
    const busy = await busyGauges(admin).catch((error: Error) => [error.message])
    if (busy.length === 0) return performance.now() - began
    await sleep(20)
  }
  return Infinity
}

function summaryOf({ attack, attacked, idle, outcomes, serverMebibytes, engineMebibytes, settledMs }: Report): string {
  const chat = attacked.chat.length === 0 ? "" : `; chat ${figures(attacked.chat)}`
  const engine = engineMebibytes === 0 ? "" : `, engine ${engineMebibytes.toFixed(0)} MiB`
  const answers = Object.entries(outcomes).map(([outcome, times]) => `${outcome} × ${times}`)
  return [
    `${attack.name} (${attack.does})`,
    `  other team: light ${figures(attacked.light)}${chat}; ${attacked.failed} failed; at rest light p50 ${median(idle.light).toFixed(1)} ms`,
    `  attacker: ${answers.join(", ")}; server ${serverMebibytes.toFixed(0)} MiB${engine}; at rest after ${settledMs.toFixed(0)} ms`,
  ].join("\n")
}

function figures(values: number[]): string {
  const [p50, p99, longest] = [median(values), quantile(values, 0.99), Math.max(...values)].map((value) =>
    value.toFixed(1),
  )
  return `p50 ${p50} p99 ${p99} max ${longest} ms (${values.length})`
}

function measurementsOf({ attack, attacked, outcomes, ...report }: Report): Measurement[] {
  const some = (what: string, unit: string, values: number[]) =>
    values.length === 0 ? [] : [measurement(`${attack.name}: ${what}`, unit, values)]
  return [
    ...some("light request", "ms", attacked.light),
    ...some("chat", "ms", attacked.chat),
    ...Object.entries(outcomes).flatMap(([outcome, times]) => some(`attacker: ${outcome}`, "requests", [times])),
    ...some("memory of the server, peak", "MiB", [report.serverMebibytes]),
    ...some("memory of the engine, peak", "MiB", report.engineMebibytes === 0 ? [] : [report.engineMebibytes]),
    ...some("at rest after", "ms", [report.settledMs]),
  ]
}

function barsOf({ attack, attacked: { light, chat } }: Report): Bar[] {
  const bars = [atMost(`${attack.name}: light request, p99`, 250, quantile(light, 0.99), "ms")]
  return chat.length === 0 ? bars : [...bars, atMost(`${attack.name}: chat, slowest`, 1000, Math.max(...chat), "ms")]
}

function barsOfAll(reports: Report[]): Bar[] {
  const unexpected = ({ attack, outcomes }: Report) =>
    sum(Object.entries(outcomes).map(([outcome, times]) => (isExpected(attack, outcome) ? 0 : times)))
  return [
    atMost("requests of the other team that failed", 0, sum(reports.map(({ attacked }) => attacked.failed)), ""),
    atMost("answers to attackers that were not expected", 0, sum(reports.map(unexpected)), ""),
    atMost("attacks that left work behind", 0, reports.filter(({ settledMs }) => settledMs === Infinity).length, ""),
  ]
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
