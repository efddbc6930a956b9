/** Measures drawing and zooming of eight curves with many points in one chart. */
import { startHeddle } from "./harness/heddle-server.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { openBenchPage, withText } from "./harness/page.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** How often the curves are drawn and zoomed. */
  rounds: { type: "string", default: "9" },
} as const

/** The chart's name on the page of components. */
const label = "Eight curves of 100,000 points"
const canvas = `document.querySelector("[role=img][aria-label='${label}'][data-drawn=true] canvas")`

export async function run(given: Options): Promise<Findings> {
  const rounds = count(given, "rounds")
  await using server = await startHeddle(temporaryFolder(), { engine: "none" })
  await using opened = await openBenchPage(server)
  const { page, timed } = opened
  await page.goto(`${server.url}/design`)
  await page.waitForLoadState("networkidle")
  await page.getByRole("button", { name: label }).waitFor()
  const button = withText("button", label)
  const [drawn, zoomed]: [number[], number[]] = [[], []]
  for (let round = 0; round <= rounds; round += 1) {
    const draw = await timed(`${button}.click()`, canvas)
    await page.locator(`[role=img][aria-label='${label}']`).scrollIntoViewIfNeeded()
    const zoom = await timed(drag, `window.heddleZoomed`)
    await timed(`${button}.click()`, `!${canvas}`)
    if (round === 0) continue
    drawn.push(draw)
    zoomed.push(zoom)
    progress(`drawn in ${draw.toFixed(0)} ms, zoomed in ${zoom.toFixed(0)} ms`)
  }
  return {
    method: [
      "The chart of the page of components, with eight curves of 100,000 points each, all of which the page has. Drawn: from the press of the button that shows it to the frame after its canvas is drawn. Zoomed: from the end of a drag over a fifth of it to the frame after. One round before is not counted.",
    ],
    versions: {},
    settings: { rounds },
    measurements: [measurement("8 curves drawn", "ms", drawn), measurement("zoomed", "ms", zoomed)],
    bars: [atMost("8 curves drawn", 150, median(drawn), "ms"), atMost("zoomed", 50, median(zoomed), "ms")],
    caveats: [],
  }
}

/** Script of the page that drags over the plot, which zooms into that range, and notes when this is drawn. */
const drag = `
  const over = document.querySelector("[role=img][aria-label='${label}'] .u-over")
  const { left, top, width, height } = over.getBoundingClientRect()
  const at = (share) => ({ bubbles: true, clientX: left + width * share, clientY: top + height / 2, button: 0 })
  over.dispatchEvent(new MouseEvent("mousemove", at(0.4)))
  over.dispatchEvent(new MouseEvent("mousedown", at(0.4)))
  document.dispatchEvent(new MouseEvent("mousemove", at(0.6)))
  over.dispatchEvent(new MouseEvent("mousemove", at(0.6)))
  window.heddleZoomed = false
  document.dispatchEvent(new MouseEvent("mouseup", at(0.6)))
  requestAnimationFrame(() => requestAnimationFrame(() => { window.heddleZoomed = true }))`
