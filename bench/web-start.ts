/** Measures what the first screen loads, and how soon it shows the first row of traces, on a warm server. */
import { gzipSync } from "node:zlib"
import { startHeddle } from "./harness/heddle-server.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { openBenchPage } from "./harness/page.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { PROJECT_ID } from "./harness/read-cases.ts"
import { fillCalls } from "./harness/read-heddle.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Calls of the project. */
  calls: { type: "string", default: "100000" },
  /** How often the page is opened. */
  rounds: { type: "string", default: "9" },
} as const

export async function run(given: Options): Promise<Findings> {
  const [calls, rounds] = [count(given, "calls"), count(given, "rounds")]
  await using server = await startHeddle(temporaryFolder(), { engine: "none" })
  await fillCalls(server, 0, calls)
  await using opened = await openBenchPage(server)
  const { page } = opened
  const scripts = new Map<string, number>()
  page.on("response", (response) => {
    if (!/\.js(\?|$)/.test(response.url())) return
    void response.body().then(
      (body) => scripts.set(response.url(), gzipSync(body).length),
      () => {},
    )
  })
  await page.goto(`${server.url}/${PROJECT_ID}`, { waitUntil: "networkidle" })
  const kilobytes = [...scripts.values()].reduce((sum, bytes) => sum + bytes, 0) / 1024
  progress(`${kilobytes.toFixed(0)} KiB of JavaScript in ${scripts.size} files`)
  const rows: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const began = performance.now()
    await page.goto(`${server.url}/${PROJECT_ID}/traces`, { waitUntil: "commit" })
    await page.locator("[role=gridcell] a").first().waitFor()
    const took = performance.now() - began
    if (round > 0) rows.push(took)
    progress(`first row after ${took.toFixed(0)} ms`)
  }
  return {
    method: [
      `A project of ${calls} calls. JavaScript: the bodies of all scripts that the overview loads until the network is idle, each packed by gzip here.`,
      "First row: the table of traces opened by its address in a tab of a browser that has been there before, from the request of the page to the first row that is drawn; one round before is not counted.",
    ],
    versions: {},
    settings: { calls, rounds },
    measurements: [
      measurement("JavaScript of the first screen, gzip", "KiB", [kilobytes]),
      measurement("first row", "ms", rows),
    ],
    bars: [
      atMost("JavaScript of the first screen, gzip", 180, kilobytes, "KiB"),
      atMost("first row", 800, median(rows), "ms"),
    ],
    caveats: [],
  }
}
