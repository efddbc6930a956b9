/** The overview of a project that clients have filled, and its changes while traces come or the server goes away. */
import { get } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { foreign, launchBrowser, phone, type Visit } from "./support/browser.ts"
import { fillProject, type FilledProject } from "./support/fill.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
let filled: FilledProject
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle(), launchBrowser()])
  filled = await fillProject(heddle, "support")
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (options = {}) => signedIn(browser, heddle, `/${filled.id}`, options)
const section = (page: Page, name: string) => page.getByRole("region", { name })

/** Complaints without the 401 of the one request that asks who is signed in, before anybody is. */
const complaintsOf = ({ complaints }: Visit) => complaints.filter((text) => !text.includes("401"))

/** Bytes of the answer as it crosses the network with gzip. */
function packedSize(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { "accept-encoding": "gzip" } }, (answer) => {
      let size = 0
      answer.on("data", (chunk: Buffer) => (size += chunk.length)).on("end", () => resolve(size))
    }).on("error", reject)
  })
}

test("what the overview shows stays where it is while the rest comes", async () => {
  const visit = await signedIn(browser, heddle, null)
  await visit.page.route("**/annotation_queues/query", async (route) => {
    await sleep(500)
    await route.continue()
  })
  await visit.page.goto(`${heddle.url}/${filled.id}`)
  const traffic = section(visit.page, "Traffic")
  await traffic.waitFor()
  const top = (await traffic.boundingBox())?.y
  await section(visit.page, "Waiting for you").getByText("8 items of Refund tone").waitFor()
  await visit.page.waitForLoadState("networkidle")
  expect((await traffic.boundingBox())?.y).toBe(top)
  await visit.close()
})

describe("the overview shows", () => {
  let visit: Visit
  beforeAll(async () => (visit = await open()))
  afterAll(() => visit?.close())

  test("the loop with its figures", async () => {
    const loop = visit.page.getByRole("navigation", { name: "The loop" })
    for (const text of [/Train\s*3\s*jobs/, /Serve\s*8\s*chat requests/, /Trace\s*242\s*calls/, /Label\s*4\s*of 12/]) {
      await loop.getByRole("link").filter({ hasText: text }).waitFor()
    }
  })

  test("models with their curve, and where they stand", async () => {
    const row = section(visit.page, "Models").getByRole("listitem").filter({ hasText: "returns-agent" })
    await row.getByText(/step 2, reward [\d.]+ → [\d.]+, heddle\/tiny/).waitFor()
    await row.getByRole("img", { name: /^reward of returns-agent: from [\d.]+ to [\d.]+$/ }).waitFor()
  })

  test("items that wait for a label, and a failed job with its reason", async () => {
    const waiting = section(visit.page, "Waiting for you")
    await waiting.getByText("8 items of Refund tone").waitFor()
    await waiting.getByText("4 of 12 labelled").waitFor()
    await waiting.getByText("A job of tone-judge failed").waitFor()
    await waiting.getByText(/line 1 of the training data/).waitFor()
  })

  test("traffic as charts, each with its numbers as a table", async () => {
    const traffic = section(visit.page, "Traffic")
    await expect.poll(() => traffic.locator('[data-drawn="true"]').count()).toBe(4)
    await traffic.getByRole("button", { name: /^Show as a table: Calls and errors/ }).click()
    const table = traffic.getByRole("region", { name: /^Calls and errors/ }).getByRole("table")
    const calls = await table.locator("tbody td:nth-child(2)").allTextContents()
    expect(calls.reduce((sum, value) => sum + Number(value), 0)).toBe(242)
    const times = await table.locator("tbody th").allTextContents()
    expect(times).toEqual(times.map(() => expect.stringMatching(/(^| )\d\d:\d\d(:\d\d)?$/)))
    expect(new Set(times).size).toBe(times.length)
    await traffic.locator('[data-drawn="true"]').first().hover()
    await expect
      .poll(() => traffic.locator(".heddle-readout").first().textContent())
      .toMatch(/(^| )\d\d:\d\d(:\d\d)? · /)
  })

  test("the newest traces, running ones too, with what went in and out", async () => {
    const rows = section(visit.page, "Newest traces").locator("tbody tr")
    await expect.poll(() => rows.count()).toBe(8)
    expect(await rows.nth(0).textContent()).toContain("running")
    await rows.filter({ hasText: "I have found the second charge" }).first().waitFor()
  })

  test("nothing leaves the server, and nothing is complained of", () => {
    expect([foreign(visit.requests, heddle.url), complaintsOf(visit)]).toEqual([[], []])
  })

  test("JavaScript of this first screen, packed, is at most 180 KiB", async () => {
    const signInRequests = visit.requests.length
    await visit.page.reload()
    await expect.poll(() => visit.page.locator('[data-drawn="true"]').count()).toBe(4)
    const scripts = visit.requests.slice(signInRequests).filter((request) => request.endsWith(".js"))
    const sizes = await Promise.all([...new Set(scripts)].map(packedSize))
    expect(sizes.length).toBeGreaterThan(5)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(180 * 1024)
  })
})

test("how long ago something was goes on while it is shown", async () => {
  const { page, close } = await open()
  await page.clock.install()
  await page.reload()
  const newest = page.getByRole("navigation", { name: "The loop" }).locator("time").first()
  await newest.waitFor()
  await page.clock.fastForward("05:00:00")
  await expect.poll(() => newest.textContent()).toBe("5 hr. ago")
  await close()
})

test("that nothing waits is not said while some of it could not be read", async () => {
  const calm = "local/calm"
  const time = new Date().toISOString()
  const call = {
    id: crypto.randomUUID(),
    trace_id: crypto.randomUUID(),
    op_name: "rest",
    started_at: time,
    ended_at: time,
  }
  await heddle.send("POST", `/v2/${calm}/calls/complete`, {
    batch: [{ ...call, project_id: calm, attributes: {}, inputs: {}, output: null, summary: {} }],
  })
  const { page, close } = await signedIn(browser, heddle, null)
  const failedJobs = (url: URL) => url.pathname === "/v1/preview/training-jobs" && url.search.includes("failed")
  await page.route(failedJobs, (route) => route.fulfill({ status: 400, json: {} }))
  await page.goto(`${heddle.url}/${calm}`)
  const waiting = section(page, "Waiting for you")
  await waiting.getByText("The queues and jobs could not be read.").waitFor()
  expect(await waiting.getByText("Nothing waits.").count()).toBe(0)
  await page.unroute(failedJobs)
  await waiting.getByRole("button", { name: "Try again" }).click()
  await waiting.getByText("Nothing waits.").waitFor()
  await close()
})

test("a run of an evaluation whose call names the op alone is counted, as the list of evaluations has it", async () => {
  const project = "local/plain-runs"
  const time = new Date().toISOString()
  const call = { id: crypto.randomUUID(), trace_id: crypto.randomUUID(), started_at: time, ended_at: time }
  const inputs = { self: "returns-regression", model: "m" }
  await heddle.send("POST", `/v2/${project}/calls/complete`, {
    batch: [
      { ...call, project_id: project, op_name: "Evaluation.evaluate", attributes: {}, inputs, output: {}, summary: {} },
    ],
  })
  const { page, close } = await signedIn(browser, heddle, `/${project}`)
  const loop = page.getByRole("navigation", { name: "The loop" })
  const stop = loop.getByRole("link").filter({ hasText: /Evaluate\s*1\s*run/ })
  await stop.waitFor()
  await stop.click()
  await page.getByRole("link", { name: "returns-regression" }).first().waitFor()
  await close()
})

test("a trace that comes appears by itself", async () => {
  const { page, close } = await open()
  await section(page, "Newest traces").locator("tbody tr").first().waitFor()
  const time = new Date().toISOString()
  const call = {
    project_id: filled.id,
    id: crypto.randomUUID(),
    trace_id: crypto.randomUUID(),
    op_name: "just_now",
    started_at: time,
    ended_at: time,
    attributes: {},
    inputs: { question: "Is it live?" },
    output: "yes",
    summary: {},
  }
  await heddle.send("POST", `/v2/${filled.id}/calls/complete`, { batch: [call] })
  await page.getByRole("link", { name: "just_now" }).waitFor()
  await page.getByText("Is it live?").waitFor()
  await close()
})

test("the range is in the address, and back leads out of it in one step", async () => {
  const { page, close } = await open()
  await page.getByRole("button", { name: "7 days", exact: true }).click()
  await page.waitForURL(`**/${filled.id}?since=7d`)
  await page.getByText("last 7 days").waitFor()
  await page.reload()
  expect(await page.getByRole("button", { name: "7 days", exact: true }).getAttribute("aria-pressed")).toBe("true")
  await page.getByText("Tokens of own models, by hour").waitFor()
  await page.getByRole("button", { name: "24 h", exact: true }).click()
  await page.waitForURL(`**/${filled.id}`)
  await close()
})

test("a server that goes away and comes back: what was shown stays, and is said to be old", async () => {
  const { page, close } = await open()
  const row = section(page, "Models").getByText("returns-agent")
  await row.waitFor()
  await page.context().setOffline(true)
  await page.getByText("The server does not answer.").first().waitFor()
  expect(await row.isVisible()).toBe(true)
  await page.context().setOffline(false)
  await page.getByText("The server does not answer.").first().waitFor({ state: "detached" })
  await close()
})

test("on a phone it is one list, without anything to scroll sideways", async () => {
  const { page, close } = await open({ viewport: phone })
  await section(page, "Models").getByText("returns-agent").waitFor()
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(390)
  expect(await page.getByRole("navigation", { name: "Main" }).isVisible()).toBe(false)
  await page.getByRole("button", { name: "Pages and commands" }).click()
  await page.getByRole("menuitem", { name: "Traces" }).waitFor()
  await close()
})
