/** Measures the memory of a page that shows new calls as they come, over a long time. */
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { openBenchPage } from "./harness/page.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { PROJECT_ID } from "./harness/read-cases.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Minutes for which the page is watched. */
  minutes: { type: "string", default: "60" },
  /** Calls that come in a second. */
  rate: { type: "string", default: "5" },
} as const

/** Share of the time that is not counted, because the page still loads code and data then. */
const warmupShare = 0.1
const samples = 20

export async function run(given: Options): Promise<Findings> {
  const [minutes, rate] = [count(given, "minutes"), count(given, "rate")]
  await using server = await startHeddle(temporaryFolder(), { engine: "none" })
  await send(server, 500)
  await using opened = await openBenchPage(server)
  const { page } = opened
  await page.goto(`${server.url}/${PROJECT_ID}/traces?live=1`)
  await page.locator("[role=gridcell] a").first().waitFor()
  const devtools = await page.context().newCDPSession(page)
  const heap = async () => {
    await devtools.send("HeapProfiler.collectGarbage")
    const { usedSize } = await devtools.send("Runtime.getHeapUsage")
    return usedSize / 1024 ** 2
  }
  const ending = new AbortController()
  const sending = (async () => {
    while (!ending.signal.aborted) {
      await send(server, rate)
      await sleep(1000)
    }
  })()
  const totalMs = minutes * 60_000
  await sleep(totalMs * warmupShare)
  const found: number[] = []
  for (let sample = 0; sample < samples; sample += 1) {
    found.push(await heap())
    progress(`${found.at(-1)?.toFixed(1)} MiB of JavaScript objects`)
    if (sample < samples - 1) await sleep((totalMs * (1 - warmupShare)) / (samples - 1))
  }
  ending.abort()
  await sending
  const quarter = samples / 4
  const growth = (median(found.slice(-quarter)) / median(found.slice(0, quarter)) - 1) * 100
  return {
    method: [
      `The table of traces with live tail for ${minutes} minutes, while ${rate} calls come in each second. Each figure: the JavaScript heap after a garbage collection that was asked for. The first tenth of the time is left out.`,
      "Growth: the median of the last quarter of the figures against that of the first.",
    ],
    versions: {},
    settings: { minutes, rate },
    measurements: [measurement("JavaScript heap", "MiB", found), measurement("growth", "%", [growth])],
    bars: [atMost("growth", 10, growth, "%")],
    caveats: minutes < 60 ? [`${minutes} minutes instead of an hour.`] : [],
  }
}

async function send(server: HeddleServer, calls: number): Promise<void> {
  const now = Date.now()
  const batch = Array.from({ length: calls }, (_, index) => ({
    project_id: PROJECT_ID,
    id: randomUUID(),
    trace_id: randomUUID(),
    op_name: index % 3 === 0 ? "issue_refund" : "handle_ticket",
    started_at: new Date(now - 800).toISOString(),
    ended_at: new Date(now).toISOString(),
    attributes: {},
    inputs: { messages: [{ role: "user", content: `Where is parcel ${now}-${index}? `.repeat(20) }] },
    output: { content: "It comes tomorrow. ".repeat(20) },
    summary: { usage: { m: { prompt_tokens: 100, completion_tokens: 20 } } },
  }))
  await server.post(`/v2/${PROJECT_ID}/calls/complete`, { batch })
}
