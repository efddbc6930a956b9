/** Measures the page of one long trace: time until its tree can be used, and folding, finding and jumping in it. */
import { evaluationTrace, traceId } from "./harness/evaluation-trace.ts"
import { startHeddle } from "./harness/heddle-server.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { type BenchPage, go, openBenchPage, withText } from "./harness/page.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { PROJECT_ID } from "./harness/read-cases.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Calls of the trace. */
  spans: { type: "string", default: "50000" },
  /** How often the trace is opened. */
  rounds: { type: "string", default: "7" },
} as const

const address = `/${PROJECT_ID}/traces/${traceId}`
const tree = `document.querySelector("[role=tree][aria-label='Calls of the trace']")`
const rows = `[...document.querySelectorAll("[role=treeitem]")]`
const press = (key: string) =>
  `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: ${JSON.stringify(key)}, bubbles: true }))`
const heading = `document.querySelector("section[aria-label='Selected call'] h2")`

export async function run(given: Options): Promise<Findings> {
  const [spans, rounds] = [count(given, "spans"), count(given, "rounds")]
  await using server = await startHeddle(temporaryFolder(), { engine: "none" })
  for (const batch of evaluationTrace(spans)) await server.post(`/v2/${PROJECT_ID}/calls/complete`, { batch })
  await using opened = await openBenchPage(server)
  await opened.page.goto(`${server.url}/${PROJECT_ID}/settings/sessions`)
  await opened.page.waitForLoadState("networkidle")
  const times = new Map<string, number[]>()
  for (let round = 0; round <= rounds; round += 1) {
    // Loading another page makes the page forget the trace.
    await opened.page.goto(`${server.url}/${PROJECT_ID}/settings/sessions`)
    for (const [what, took] of await measure(opened)) {
      progress(`${what}: ${took.toFixed(0)} ms`)
      if (round > 0) times.set(what, [...(times.get(what) ?? []), took])
    }
  }
  const bars: Record<string, number> = {
    "tree usable": 1000,
    "unfold a group of all predictions": 100,
    "fold it": 100,
    "find a call by its name": 100,
    "jump to the next error": 100,
    "select the next call": 100,
  }
  return {
    method: [
      `One trace of ${spans} calls, as an evaluation with an agent makes it: predictions that repeat, 53 calls each, some of them failed. The page is loaded; what was read of the trace is forgotten before each opening.`,
      "Tree usable: from the new address to the drawn rows of the tree, its keys working. The others: from the press of key or button until the change is drawn.",
    ],
    versions: {},
    settings: { spans, rounds },
    measurements: [...times].map(([what, ms]) => measurement(what, "ms", ms)),
    bars: Object.entries(bars).map(([what, most]) => atMost(what, most, median(times.get(what) ?? []), "ms")),
    caveats: [],
  }
}

async function measure({ page, timed }: BenchPage): Promise<[string, number][]> {
  await page.reload()
  await page.waitForLoadState("networkidle")
  const usable = await timed(go(address), `${tree} && ${rows}.length > 2`)
  const group = withText("[role=treeitem]", "×")
  const at = `Number(${tree}.querySelector("[role=treeitem]:last-of-type") ? ${tree}.scrollHeight : 0)`
  const height = await page.evaluate<number>(at)
  const unfold = await timed(`${group}.click()`, `${at} > ${height} * 2`)
  const fold = await timed(`${group}.click()`, `${at} <= ${height} + 200`)
  const field = `document.querySelector("input[aria-label='Find a call by its name']")`
  await page.getByLabel("Find a call by its name").fill("send_rep")
  const find = await timed(
    `${field}.focus(); ${field}.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
     ${field}.form?.requestSubmit()`,
    `${heading} && ${heading}.textContent.includes("send_reply")`,
  )
  await page.evaluate(`document.activeElement.blur()`)
  const jump = await timed(press("e"), `${heading} && ${heading}.textContent.includes("rerank")`)
  const before = `document.querySelector("[role=treeitem][aria-selected=true]").textContent`
  const next = await timed(`window.heddleBefore = ${before}; ${press("j")}`, `${before} !== window.heddleBefore`)
  return [
    ["tree usable", usable],
    ["unfold a group of all predictions", unfold],
    ["fold it", fold],
    ["find a call by its name", find],
    ["jump to the next error", jump],
    ["select the next call", next],
  ]
}
