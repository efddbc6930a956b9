/** Measures the JSON viewer with a large text: its first view, a search, and how long the page stands still. */
import { startHeddle } from "./harness/heddle-server.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { openBenchPage, withText } from "./harness/page.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Size of the text, in MB. */
  megabytes: { type: "string", default: "50" },
  /** How often each act is timed, after one time that does not count. */
  rounds: { type: "string", default: "5" },
} as const

/** A word near the end of the text that the page of components makes. */
const needle = "xylographer"
const row = `document.querySelector("[role=tree][aria-label=Large] [role=treeitem]")`
const open = withText("button", "Open the large JSON text")

export async function run(given: Options): Promise<Findings> {
  const [megabytes, rounds] = [count(given, "megabytes"), count(given, "rounds")]
  await using server = await startHeddle(temporaryFolder(), { engine: "none" })
  await using opened = await openBenchPage(server)
  const { page, watched } = opened
  await page.goto(`${server.url}/design`)
  await page.waitForLoadState("networkidle")
  await page.getByLabel("Megabytes").fill(String(megabytes))
  await page.getByRole("button", { name: "Make a large JSON text" }).click()
  await page.getByRole("button", { name: "Open the large JSON text" }).isEnabled()
  const [view, find, still]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round <= rounds; round += 1) {
    const elapsed = await watched(`${open}.click()`, row)
    await page.getByLabel("Find in Large").fill(needle)
    const found = await watched(
      `const field = document.querySelector("[aria-label='Find in Large']"); field.focus();
       field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }))`,
      withText("[role=tree][aria-label=Large] [role=treeitem]", needle),
    )
    await watched(`${open}.click()`, `!${row}`)
    progress(`first view ${elapsed.ms.toFixed(0)} ms, find ${found.ms.toFixed(0)} ms`)
    if (round === 0) continue
    view.push(elapsed.ms)
    find.push(found.ms)
    still.push(Math.max(elapsed.longestTaskMs, found.longestTaskMs))
  }
  return {
    method: [
      `A text of ${megabytes} MB of JSON that the page of components makes: a list of records. First view: from the press that opens it to its first rows. Find: from Enter to the row that holds a word near the end. One round before is not counted.`,
      "Standing still: the longest task of the page's thread meanwhile; the browser reports those of more than 50 ms.",
    ],
    versions: {},
    settings: { megabytes, rounds },
    measurements: [
      measurement("first view", "ms", view),
      measurement("find", "ms", find),
      measurement("longest standing still", "ms", still),
    ],
    bars: [
      atMost("first view", 500, median(view), "ms"),
      atMost("find", 1000, median(find), "ms"),
      atMost("longest standing still", 100, Math.max(...still), "ms"),
    ],
    caveats: [],
  }
}
