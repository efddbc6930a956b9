/** Opens a page in headless Chromium, signed in to a server, and times acts by the page's own clock. */
import { setTimeout } from "node:timers/promises"
import { launchBrowser, type Visit } from "../../web/browser/support/browser.ts"
import { ensureChromium } from "../../scripts/setup/chromium.mjs"
import { ensureWeb } from "../../scripts/setup/web.mjs"
import type { HeddleServer } from "./heddle-server.ts"

export interface BenchPage extends AsyncDisposable {
  page: Visit["page"]
  /** Milliseconds from the act, an expression of the page, until one frame after `there` is true. */
  timed: (act: string, there: string) => Promise<number>
  /** Until the page has waited for no answer of the server for half a second, whatever it was loaded with. */
  quiet: () => Promise<void>
  /** Runs the act and watches until `there` is true: its time, the longest gap between frames, the longest task. */
  watched: (act: string, there: string) => Promise<Watched>
}

/** A request that waits for its answer. */
interface Asked {
  url: () => string
}

export interface Watched {
  ms: number
  longestFrameMs: number
  longestTaskMs: number
}

const size = { width: 1440, height: 900 }
const patienceMs = 120_000
const quietMs = 500

/** Opens a page on the server, after building the pages unless they are built. */
export async function openBenchPage(server: HeddleServer): Promise<BenchPage> {
  await ensureWeb()
  const executablePath = await ensureChromium()
  if (executablePath === null) throw new Error("there is no Chromium, and none can be installed: put one on the PATH")
  process.env["HEDDLE_TEST_BROWSER"] = executablePath
  const browser = await launchBrowser()
  const context = await browser.newContext({ viewport: size })
  const answer = await context.request.post(`${server.url}/v1/session`, {
    data: { api_key: server.adminKey },
    headers: { origin: server.url, "x-heddle-csrf": "1" },
  })
  if (!answer.ok()) throw new Error(`POST /v1/session answered ${answer.status()}: ${await answer.text()}`)
  await context.addInitScript(watching)
  const page = await context.newPage()
  page.setDefaultTimeout(patienceMs)
  const open = new Set<Asked>()
  page.on("request", (request) => open.add(request))
  page.on("requestfinished", (request) => open.delete(request))
  page.on("requestfailed", (request) => open.delete(request))
  const watched = (act: string, there: string) =>
    page.evaluate<Watched>(`heddleWatch(() => { ${act} }, () => Boolean(${there}), ${patienceMs})`)
  return {
    page,
    quiet: () => quiet(open),
    watched,
    timed: async (act, there) => (await watched(act, there)).ms,
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

/** Playwright's "networkidle" is of the document's loading alone: a page that goes on by itself had it long before. */
async function quiet(open: ReadonlySet<Asked>): Promise<void> {
  const began = performance.now()
  let quietSince = began
  for (let now = began; now - quietSince < quietMs; now = performance.now()) {
    if (now - began > patienceMs)
      throw new Error(`the page still waits for ${[...open].map((one) => one.url()).join()}`)
    await setTimeout(25)
    if (open.size > 0) quietSince = performance.now()
  }
}

/** Script of the page: it looks in each frame, and ends one frame after the result was found, when that is drawn. */
const watching = `
  window.heddleWatch = (act, isThere, patienceMs) => new Promise((resolve, reject) => {
    let longestTaskMs = 0, longestFrameMs = 0
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) longestTaskMs = Math.max(longestTaskMs, entry.duration)
    })
    observer.observe({ entryTypes: ["longtask"] })
    const began = performance.now()
    let last = began
    const look = () => {
      const now = performance.now()
      longestFrameMs = Math.max(longestFrameMs, now - last)
      last = now
      if (now - began > patienceMs) return reject(new Error("nothing came within " + patienceMs + " ms"))
      if (!isThere()) return requestAnimationFrame(look)
      // One frame later, the frame in which it was found has been drawn.
      requestAnimationFrame(() => setTimeout(() => {
        const ms = performance.now() - began
        observer.takeRecords().forEach((entry) => { longestTaskMs = Math.max(longestTaskMs, entry.duration) })
        observer.disconnect()
        resolve({ ms, longestFrameMs, longestTaskMs })
      }, 0))
    }
    act()
    requestAnimationFrame(look)
  })
`

/** JavaScript for the first element of a selector whose text contains the words. */
export const withText = (selector: string, words: string) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => one.textContent.includes(${JSON.stringify(words)}))`

/** JavaScript that goes to an address of the interface, as a click on a link does: the router hears of each `pushState`. */
export const go = (address: string) => `history.pushState({}, "", ${JSON.stringify(address)})`
