/** Measures the table of calls of a large project: first rows, a change of the filter, scrolling. */
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { type BenchPage, go, openBenchPage, type Watched } from "./harness/page.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { needleOf, PROJECT_ID } from "./harness/read-cases.ts"
import { fillCalls, untilAtRest } from "./harness/read-heddle.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Calls of the project. */
  calls: { type: "string", default: "1000000" },
  /** How often each step is measured. */
  rounds: { type: "string", default: "7" },
  /** Rows that are scrolled over. */
  rows: { type: "string", default: "10000" },
} as const

const address = (search: string) => `/${PROJECT_ID}/traces${search}`
const firstRow = `document.querySelector("[role=gridcell] a")`

interface Step {
  what: string
  atMostMs: number
  /** Address of the table before the step; "away" for a page without a table. */
  from: string
  to: (round: number) => string
}

const steps: Step[] = [
  { what: "first rows of all calls", atMostMs: 500, from: "away", to: () => address("?scope=all") },
  { what: "first rows of traces", atMostMs: 500, from: "away", to: () => address("") },
  {
    what: "filter by duration",
    atMostMs: 700,
    from: address("?scope=all"),
    to: () => address("?scope=all&q=duration+%3E+2s"),
  },
  {
    what: "filter by status",
    atMostMs: 700,
    from: address("?scope=all"),
    to: () => address("?scope=all&q=status+is+ok"),
  },
  {
    what: "filter by a value of the inputs",
    atMostMs: 700,
    from: address("?scope=all"),
    to: () => address("?scope=all&q=inputs.nested.score+%3E+99"),
  },
  {
    what: "filter by a word that one call holds",
    atMostMs: 700,
    from: address("?scope=all"),
    to: (round) => address(`?scope=all&q=${needleOf(round)}`),
  },
]

export async function run(given: Options): Promise<Findings> {
  const [calls, rounds, rows] = [count(given, "calls"), count(given, "rounds"), count(given, "rows")]
  await using server = await startHeddle(temporaryFolder(), { engine: "none" })
  await fillCalls(server, 0, calls)
  await untilAtRest(server)
  const times = await timeSteps(server, rounds)
  const scrolled = await scroll(server, rows)
  progress(`scrolling: longest frame ${scrolled.longestFrameMs.toFixed(0)} ms`)
  return {
    method: [
      `${calls} calls of about 2 KB, ten to a trace but for one trace of 50,000, stored through the public API; the store has merged them.`,
      "First rows, filter: the page is loaded already; from the new address to the first row that is drawn of the new list, which must not be one of the old. The page is loaded anew before each, so that nothing of it has been read; its code is in the browser. One round before is not counted. Each round searches for another part of the word, since the store remembers where it found nothing.",
      `Scrolling: in a browser that was started for it, ${rows} rows down at 200 rows a second, a step in each frame; the longest time between two frames.`,
    ],
    versions: {},
    settings: { calls, rounds, rows },
    measurements: [
      ...steps.map(({ what }) => measurement(what, "ms", times.get(what) ?? [])),
      measurement("longest frame while scrolling", "ms", [scrolled.longestFrameMs]),
      measurement("longest task while scrolling", "ms", [scrolled.longestTaskMs]),
    ],
    bars: [
      ...steps.map(({ what, atMostMs }) => atMost(what, atMostMs, median(times.get(what) ?? []), "ms")),
      atMost("longest frame while scrolling", 50, scrolled.longestFrameMs, "ms"),
    ],
    caveats: [],
  }
}

/** Milliseconds of each step in each round, by what it is. */
async function timeSteps(server: HeddleServer, rounds: number): Promise<Map<string, number[]>> {
  await using opened = await openBenchPage(server)
  await opened.page.goto(`${server.url}/${PROJECT_ID}/traces?scope=all`)
  await opened.page.locator("[role=gridcell] a").first().waitFor()
  const times = new Map<string, number[]>()
  for (let round = 0; round <= rounds; round += 1) {
    for (const step of steps) {
      const took = await measure(opened, step, round)
      progress(`${step.what}: ${took.toFixed(0)} ms`)
      if (round > 0) times.set(step.what, [...(times.get(step.what) ?? []), took])
    }
  }
  return times
}

/** Milliseconds from going to the address `to` until a row of the new list is drawn. */
async function measure({ page, timed, quiet }: BenchPage, { from, to }: Step, round: number): Promise<number> {
  // Loading another page makes the page forget the calls that it has read.
  await page.goto(new URL(`/${PROJECT_ID}/settings/sessions`, page.url()).href)
  await page.waitForLoadState("networkidle")
  if (from !== "away") {
    await timed(go(from), firstRow)
    // Wait until the facets and counts of the first list are there.
    await quiet()
    const before = `document.querySelector("[role=row][aria-rowindex='2']")`
    return timed(`window.heddleOld = ${before}; ${go(to(round))}`, `${firstRow} && !window.heddleOld.isConnected`)
  }
  return timed(go(to(round)), firstRow)
}

/** In a browser of its own: the documents of the steps are thrown away by the page that they were in, whenever it likes. */
async function scroll(server: HeddleServer, rows: number): Promise<Watched> {
  await using opened = await openBenchPage(server)
  const { page, timed, watched, quiet } = opened
  await page.goto(`${server.url}/${PROJECT_ID}/settings/sessions`)
  await page.waitForLoadState("networkidle")
  await timed(go(address("?scope=all")), firstRow)
  // Before they are counted, the table has one page of rows.
  await quiet()
  const box = `document.querySelector("[role=grid] > div")`
  const rowHeight = 28
  const perFrame = Math.round((200 / 60) * rowHeight)
  const act = `
    const box = ${box}, end = Math.min(${rows * rowHeight}, box.scrollHeight - box.clientHeight)
    window.heddleDone = false
    const step = () => {
      box.scrollTop += ${perFrame}
      if (box.scrollTop >= end - ${perFrame}) window.heddleDone = true
      else requestAnimationFrame(step)
    }
    step()`
  return await watched(act, "window.heddleDone")
}
