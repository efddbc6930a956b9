/** The table of traces over calls that clients have sent: filter, order, selection, live tail. */
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Browser, Locator, Page, Request } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { foreign, launchBrowser, phone } from "./support/browser.ts"
import { heldBack } from "./support/held-back.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"
import { findings } from "./support/axe.ts"

let heddle: Heddle
let browser: Browser
const project = "local/traced"
const start = Date.parse("2026-11-20T10:00:00Z")

interface Sent {
  op_name?: string
  at?: number
  ms?: number | null
  question?: string
  exception?: string | null
  trace_id?: string
  parent_id?: string | null
  inputs?: object
  output?: unknown
  summary?: object
}

function callOf({ op_name = "handle_ticket", at = start, ms = 1000, question = "Hello?", ...rest }: Sent) {
  return {
    project_id: project,
    id: randomUUID(),
    trace_id: randomUUID(),
    op_name,
    started_at: new Date(at).toISOString(),
    ended_at: new Date(at + (ms ?? 0)).toISOString(),
    attributes: {},
    inputs: { messages: [{ role: "user", content: question }] },
    output: "answered",
    summary: {},
    ...rest,
  }
}

/** Sends calls to another project, so that they are not among those that the tests above count. */
const sendTo = (other: string, batch: object[]) =>
  heddle.send("POST", `/v2/${other}/calls/complete`, {
    batch: batch.map((call) => ({ ...call, project_id: other })),
  })
const send = (batch: object[]) => heddle.send("POST", `/v2/${project}/calls/complete`, { batch })

/** A script: answers of lists keep back what follows their first line until `heddleGoOn()`, as a search of many calls does, or break off. */
const holdAllButTheFirstLine = `
  const goOn = new Promise((resolve) => (window.heddleGoOn = resolve))
  const sent = window.fetch
  window.fetch = async (...request) => {
    const answer = await sent(...request)
    if (!answer.url.endsWith("/calls/stream_query")) return answer
    const text = await answer.text()
    const end = text.indexOf("\\n") + 1
    const encoded = (part) => new TextEncoder().encode(part)
    const start = async (stream) => {
      stream.enqueue(encoded(text.slice(0, end)))
      if ((await goOn) === "broken") return stream.error(new TypeError("broken"))
      stream.enqueue(encoded(text.slice(end)))
      stream.close()
    }
    return new Response(new ReadableStream({ start: (stream) => void start(stream) }), answer)
  }`

beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  const batch = Array.from({ length: 350 }, (_, index) =>
    callOf({
      at: start + index * 1000,
      ms: 100 + ((index * 7919) % 5000),
      question: `Where is parcel ${index}?`,
      inputs: {
        ticket: { number: index },
        big: "@@exact",
        messages: [{ role: "user", content: `Where is parcel ${index}?` }],
      },
      exception: index % 50 === 7 ? "Traceback\nTimeout: no answer within 8,000 ms" : null,
      summary: { usage: { m: { prompt_tokens: 100 + index, completion_tokens: 11 } } },
    }),
  )
  const scored = callOf({
    op_name: "refund",
    at: start + 400_000,
    ms: 12_000,
    question: "The zipper broke, refund please",
  })
  const inner = callOf({
    op_name: "pay",
    at: start + 401_000,
    trace_id: scored.trace_id,
    parent_id: scored.id,
    question: "pay back",
  })
  // The number goes into the JSON text by hand, because JavaScript would change its digits.
  const body = JSON.stringify({ batch: [...batch, scored, inner] }).replaceAll('"@@exact"', "12345678901234567890")
  const answer = await fetch(`${heddle.url}/v2/${project}/calls/complete`, {
    method: "POST",
    headers: { authorization: `Bearer ${heddle.key}`, "content-type": "application/json" },
    body,
  })
  expect(answer.status).toBe(200)
  await heddle.send("POST", "/feedback/create", {
    project_id: project,
    weave_ref: `weave:///${project}/call/${scored.id}`,
    feedback_type: "tone",
    payload: { value: 2 },
  })
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const at = (search: string) => `/${project}/traces${search}`
const open = (search = "", options = {}) => signedIn(browser, heddle, at(search), options)
const row = (page: Page, number: number) => page.locator(`[role=row][aria-rowindex="${number + 1}"]`)
/** The element of the table that scrolls, as an expression of the page. */
const box = `document.querySelector("[role=grid] > div")`
/** Before the rows are counted, the table is as high as the first of them. */
const counted = (page: Page) => page.getByText(/^[\d,]+ traces\b/)
const search = (page: Page) => new URL(page.url()).searchParams

describe("the table lists", () => {
  test("traces, the newest first, with what went in and out; nothing leaves the server", async () => {
    const { page, requests, complaints, close } = await open()
    await page.getByText("351 traces", { exact: true }).waitFor()
    await row(page, 1).getByText("The zipper broke, refund please").waitFor()
    expect(await row(page, 1).textContent()).toMatch(/ok.*refund.*answered.*12\.0.*tone 2/s)
    await row(page, 2).getByText("Where is parcel 349?").waitFor()
    expect(await row(page, 2).textContent()).toContain("460")
    expect(foreign(requests, heddle.url)).toEqual([])
    expect(complaints.filter((text) => !/status of (401|503)/.test(text))).toEqual([])
    await close()
  })

  test("a long duration in full, and the time of day of a call that is weeks old", async () => {
    const other = "local/old"
    const weeksAgo = Date.now() - 40 * 24 * 3600 * 1000
    await sendTo(
      other,
      Array.from({ length: 12 }, (_, index) =>
        callOf({ at: weeksAgo + index * 1000, ms: index === 11 ? 171_000 : 900 }),
      ),
    )
    const { page, close } = await signedIn(browser, heddle, `/${other}/traces`)
    const duration = row(page, 1)
      .getByRole("gridcell")
      .filter({ hasText: /^2.m.51.s$/ })
    await duration.waitFor()
    const [wanted, given] = await duration.evaluate((cell) => [cell.scrollWidth, cell.clientWidth])
    expect(wanted).toBe(given)
    await row(page, 1)
      .getByText(/^\w+ \w+ \d\d:\d\d$/)
      .waitFor()
    await close()
  })

  test("rows that stay where they are when the bars of time come", async () => {
    const { page, close } = await signedIn(browser, heddle, null)
    await page.route("**/calls/facets", async (route) => {
      await sleep(500)
      await route.continue()
    })
    await page.goto(heddle.url + at(""))
    await row(page, 1).getByText("The zipper broke, refund please").waitFor()
    const top = async () => (await page.getByRole("grid").boundingBox())?.y
    const before = await top()
    await page.getByRole("img", { name: /calls? from/ }).waitFor()
    expect(await top()).toBe(before)
    await close()
  })

  test("all calls, inside of traces too, by a switch that is in the address", async () => {
    const { page, close } = await open()
    await page.getByRole("button", { name: "All calls" }).click()
    await page.getByText("352 calls", { exact: true }).waitFor()
    await page.getByRole("link", { name: "pay", exact: true }).waitFor()
    expect(search(page).get("scope")).toBe("all")
    await page.goBack()
    await page.getByText("351 traces", { exact: true }).waitFor()
    await close()
  })

  test("rows far below, which are read when they are scrolled to", async () => {
    const { page, close } = await open()
    await counted(page).waitFor()
    await page.evaluate(`${box}.scrollTop = ${box}.scrollHeight`)
    await page.getByText("Where is parcel 0?").waitFor()
    await close()
  })

  test("rows that are scrolled to before they are seen; who jumps waits for where it leads alone", async () => {
    const other = "local/long"
    await sendTo(
      other,
      Array.from({ length: 600 }, (_, index) =>
        callOf({ at: start + index * 1000, question: `Where is box ${index}?` }),
      ),
    )
    const { page, close } = await signedIn(browser, heddle, `/${other}/traces`)
    await page.getByText("600 traces", { exact: true }).waitFor()
    await page.waitForLoadState("networkidle")
    const [offsets, blocks]: [number[], number[]] = [[], []]
    const bodyOf = (request: Request) =>
      request.url().endsWith("/calls/stream_query")
        ? (JSON.parse(request.postData() ?? "{}") as { offset?: number; filter?: { call_ids?: string[] } })
        : {}
    page.on("request", (request) => offsets.push(...[bodyOf(request).offset].filter((offset) => offset !== undefined)))
    const noteRead = (request: Request) => {
      const ids = bodyOf(request).filter?.call_ids
      if (ids !== undefined) blocks.push(ids.length)
    }
    // A stream whose last line was read before its end is told as one that failed.
    page.on("requestfinished", noteRead)
    page.on("requestfailed", noteRead)
    await page.evaluate(`${box}.scrollTop = 28 * 25`)
    // Rows 50 to 249, of which the last that is drawn is row 71.
    await expect.poll(() => [offsets, blocks]).toEqual([[100], [50, 50, 50, 50]])
    expect(await row(page, 101).count()).toBe(0)
    const drawn = await page.evaluate<string[]>(`new Promise((resolve) => {
      ${box}.scrollTop = 28 * 150
      requestAnimationFrame(() => requestAnimationFrame(() =>
        resolve([...document.querySelectorAll("[role=row][aria-rowindex]")].map((one) => one.textContent))))
    })`)
    expect(drawn.find((text) => text.includes("Where is box 440?"))).toBeDefined()

    await page.reload()
    await page.getByText("600 traces", { exact: true }).waitFor()
    offsets.length = 0
    await page.evaluate(`${box}.scrollTop = ${box}.scrollHeight`)
    await page.getByText("Where is box 0?").waitFor()
    expect(offsets).toEqual([500])
    await close()
  })

  test("a page of rows before the payloads in it are wanted, which come one block after the other", async () => {
    const { page, close } = await signedIn(browser, heddle, "/local/long/traces")
    await page.getByText("600 traces", { exact: true }).waitFor()
    await page.waitForLoadState("networkidle")
    const asked: string[] = []
    page.on("request", (request) => {
      if (!request.url().endsWith("/calls/stream_query")) return
      const { offset, filter } = JSON.parse(request.postData() ?? "{}") as {
        offset?: number
        filter?: { call_ids?: string[] }
      }
      asked.push(offset === undefined ? `${filter?.call_ids?.length} payloads` : `page at ${offset}`)
    })
    const scrollTo = async (first: number, then: string[]) => {
      asked.length = 0
      await page.evaluate(`${box}.scrollTop = 28 * ${first}`)
      await expect.poll(() => asked).toEqual(then)
      await page.waitForLoadState("networkidle")
    }
    await scrollTo(25, ["page at 100", "50 payloads", "50 payloads", "50 payloads", "50 payloads"])
    await scrollTo(70, ["50 payloads"])
    await scrollTo(120, ["50 payloads"])
    // Row 500 is the first of the page, and payloads are read up to row 399.
    await scrollTo(170, ["page at 500", "50 payloads"])
    await close()
  })

  test("rows that are drawn once when they are scrolled to, and not again for those that come after them", async () => {
    const { page, close } = await open()
    await page.getByText("351 traces", { exact: true }).waitFor()
    await page.waitForLoadState("networkidle")
    await row(page, 20).getByText("Where is parcel").waitFor()
    // The text of a question is parsed for each drawing of its row.
    await page.evaluate(`
      window.drawn = {}
      const { parse } = JSON
      JSON.parse = (text, ...rest) => {
        if (text.startsWith('"Where is parcel')) window.drawn[text] = (window.drawn[text] ?? 0) + 1
        return parse(text, ...rest)
      }
      const isDrawn = (row) => row.ariaRowIndex === "1" || /Where is parcel|The zipper|Timeout/.test(row.textContent)
      const step = () => {
        // A row that is passed before its payload is there is never drawn with it.
        if ([...document.querySelectorAll("[role=row][aria-rowindex]")].every(isDrawn)) ${box}.scrollTop += 28 * 3
        if (${box}.scrollTop + ${box}.clientHeight < ${box}.scrollHeight) requestAnimationFrame(step)
      }
      step()`)
    await page.getByText("Where is parcel 0?").waitFor()
    const times = await page.evaluate<Record<string, number>>("window.drawn")
    expect(Object.keys(times).length).toBeGreaterThan(250)
    expect(Object.entries(times).filter(([, count]) => count > 1)).toEqual([])
    await close()
  })

  test("bars of durations by a scale of the rows that are seen, and another scale draws no row again", async () => {
    const other = "local/durations"
    await sendTo(
      other,
      Array.from({ length: 200 }, (_, index) => callOf({ at: start + index * 1000, ms: index < 100 ? 8000 : 100 })),
    )
    const { page, close } = await signedIn(browser, heddle, `/${other}/traces`)
    await page.getByText("200 traces", { exact: true }).waitFor()
    await page.evaluate(`${box}.scrollTop = 28 * 45`)
    const bar = row(page, 75).locator("[role=gridcell] i[aria-hidden]")
    const width = async () => Math.round((await bar.boundingBox())?.width ?? 0)
    await row(page, 75).getByText("Hello?").waitFor()
    await expect.poll(width).toBe(34)
    await page.evaluate(`
      window.redrawn = 0
      new MutationObserver((changes) => { window.redrawn += changes.length }).observe(
        document.querySelector("[role=row][aria-rowindex='76']"),
        { subtree: true, childList: true, attributes: true, characterData: true },
      )
      ${box}.scrollTop = 28 * 74`)
    await expect.poll(width).toBe(2)
    expect(await page.evaluate("window.redrawn")).toBe(0)
    await close()
  })

  test("bars by the scale that they have while the next rows are read", async () => {
    const { page, close } = await open()
    await page.getByText("351 traces", { exact: true }).waitFor()
    await page.route("**/calls/stream_query", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      await route.continue()
    })
    await page.evaluate(`
      window.scaled = 0
      const grid = document.querySelector("[role=grid]")
      new MutationObserver((changes) => {
        window.scaled += changes.filter(({ target }) => target.contains(grid)).length
      }).observe(document.body, { subtree: true, attributeFilter: ["style"] })
      ${box}.scrollTop = ${box}.scrollHeight`)
    await page.getByText("Where is parcel 0?").waitFor()
    expect(await page.evaluate("window.scaled")).toBe(0)
    await close()
  })
})

describe("the filter", () => {
  test.each([
    ["status is error", "7 traces"],
    ["op is refund", "1 trace"],
    ["duration > 10s", "1 trace"],
    ['"zipper BROKE"', "1 trace"],
    ["feedback.tone < 3", "1 trace"],
    ["feedback missing", "350 traces"],
    ["inputs.ticket.number >= 345", "5 traces"],
    ["inputs.big is 12345678901234567890", "350 traces"],
    ["error contains timeout", "7 traces"],
  ])("%s in the address leaves %s", async (q, count) => {
    const { page, close } = await open(`?q=${new URLSearchParams({ q }).toString().slice(2).replaceAll("%3A", ":")}`)
    await page.getByText(count, { exact: true }).waitFor()
    await close()
  })

  test("is written with suggestions, changed by its chips, and taken back by going back", async () => {
    const { page, close } = await open()
    await row(page, 1).getByText("zipper").waitFor()
    await page.keyboard.press("/")
    const field = page.getByRole("combobox", { name: "Filter" })
    await field.pressSequentially("sta")
    await page.getByRole("option", { name: /^status/ }).click()
    await page.getByRole("option", { name: "status is", exact: true }).click()
    await page.getByRole("option", { name: "error", exact: true }).click()
    await page.getByText("7 traces", { exact: true }).waitFor()
    expect(search(page).get("q")).toBe("status is error")
    await field.fill("parcel 307")
    await field.press("Enter")
    await page.getByText("1 trace", { exact: true }).waitFor()
    await expect.poll(() => row(page, 1).locator("mark").allTextContents()).toEqual(["parcel", "307"])
    await page.getByRole("button", { name: "Remove status is error" }).click()
    await page.waitForURL((url) => url.searchParams.get("q") === "parcel 307")
    await page.goBack()
    await page.getByRole("button", { name: "Remove status is error" }).waitFor()
    await close()
  })

  test("a chip is put into the line to be changed, by a click or from behind it by Backspace", async () => {
    const { page, close } = await open("?q=status+is+error+and+op+is+handle_ticket")
    await page.getByText("7 traces", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Change status is error" }).click()
    await page.waitForURL((url) => url.searchParams.get("q") === "op is handle_ticket")
    const field = page.getByRole("combobox", { name: "Filter" })
    expect(await field.inputValue()).toBe("status is error")
    await field.fill("status is ok")
    await field.press("Enter")
    await page.waitForURL((url) => url.searchParams.get("q") === "op is handle_ticket and status is ok")
    expect([await field.inputValue(), await field.evaluate((one) => one.ownerDocument.activeElement === one)]).toEqual([
      "",
      true,
    ])
    await field.press("Backspace")
    await page.waitForURL((url) => url.searchParams.get("q") === "op is handle_ticket")
    expect(await field.inputValue()).toBe("status is ok")
    await page.getByRole("button", { name: "Clear" }).click()
    await page.getByText("351 traces", { exact: true }).waitFor()
    expect(await field.inputValue()).toBe("")
    await close()
  })

  test("offers fields and values of the calls by a part of them, and Enter completes what is begun", async () => {
    const { page, close } = await open()
    await row(page, 1).getByText("zipper").waitFor()
    await page.getByRole("checkbox", { name: /^refund/ }).waitFor()
    await page.keyboard.press("/")
    const field = page.getByRole("combobox", { name: "Filter" })
    await field.pressSequentially("numb")
    await page.getByRole("option", { name: "inputs.ticket.number" }).waitFor()
    await field.press("Tab")
    expect(await field.inputValue()).toBe("inputs.ticket.number ")
    await field.fill("op is EFUN")
    await page.getByRole("option", { name: "refund" }).waitFor()
    await field.fill("status is err")
    await field.press("Enter")
    await page.getByText("7 traces", { exact: true }).waitFor()
    expect(search(page).get("q")).toBe("status is error")
    await close()
  })

  test("finds rows before it counts them, and counts no page that is not full", async () => {
    const { page, close } = await open()
    await page.getByText("351 traces", { exact: true }).waitFor()
    const seen: string[] = []
    const note = (what: string, body: string | null) => {
      if (body?.includes("parcel") === true) seen.push(`${what} ${(JSON.parse(body) as { limit: number }).limit}`)
    }
    page.on("request", (request) => {
      if (request.url().endsWith("/calls/query_stats")) note("count", request.postData())
    })
    page.on("response", (response) => {
      if (response.url().endsWith("/calls/stream_query")) note("rows", response.request().postData())
    })
    const field = page.getByRole("combobox", { name: "Filter" })
    await field.fill("parcel")
    await field.press("Enter")
    await page.getByText("350 traces", { exact: true }).waitFor()
    expect(seen.filter((what) => what === "rows 100" || what === "count 10000")).toEqual(["rows 100", "count 10000"])
    await field.fill("307")
    await field.press("Enter")
    await page.getByText("1 trace", { exact: true }).waitFor()
    expect(seen.filter((what) => what === "count 10000")).toHaveLength(1)
    await close()
  })

  test("shows the rows that are found first while others are searched, and counts nothing meanwhile", async () => {
    const { page, close } = await open()
    await page.getByText("351 traces", { exact: true }).waitFor()
    await page.evaluate(holdAllButTheFirstLine)
    const counts: string[] = []
    page.on("request", (request) => {
      const isCount = /query_stats|facets/.test(request.url())
      if (isCount && request.postData()?.includes("Timeout") === true) counts.push(request.url())
    })
    const field = page.getByRole("combobox", { name: "Filter" })
    await field.fill("Timeout")
    await field.press("Enter")
    await page.getByText(/^≥.1 trace, still searching…$/).waitFor()
    const found = page.getByRole("row", { name: /Timeout/ })
    expect(await found.count()).toBe(1)
    expect(counts).toEqual([])
    await page.evaluate("window.heddleGoOn()")
    await page.getByText("7 traces", { exact: true }).waitFor()
    expect(await found.count()).toBe(7)
    await expect.poll(() => counts.length).toBeGreaterThan(0)
    await close()
  })

  test("does not say that it searches on when the search broke off", async () => {
    const { page, close } = await open()
    await page.getByText("351 traces", { exact: true }).waitFor()
    await page.evaluate(holdAllButTheFirstLine)
    const field = page.getByRole("combobox", { name: "Filter" })
    await field.fill("Timeout")
    await field.press("Enter")
    const searching = page.getByText("still searching…")
    await searching.waitFor()
    await page.evaluate('window.heddleGoOn("broken")')
    await page.getByText("The traces could not be read.").waitFor()
    expect(await searching.count()).toBe(0)
    expect(await page.getByRole("row", { name: /Timeout/ }).count()).toBe(1)
    await close()
  })

  test("finds errors by their words, which stand out in the row", async () => {
    const { page, close } = await open()
    const field = page.getByRole("combobox", { name: "Filter" })
    await field.fill("no ANSWER timeout")
    await field.press("Enter")
    await page.getByText("7 traces", { exact: true }).waitFor()
    // Words on the lines above the last are found as well.
    await field.fill("traceback")
    await field.press("Enter")
    await page.getByText("7 traces", { exact: true }).waitFor()
    await expect.poll(() => row(page, 1).locator("mark").allTextContents()).toEqual(["Timeout", "no", "answer"])
    await close()
  })

  test("marks the part that it does not understand, and keeps the text to be mended", async () => {
    const { page, close } = await open()
    const field = page.getByRole("combobox", { name: "Filter" })
    await field.fill("feedback.tone <")
    await field.press("Enter")
    await page.getByText("The filter is not understood at “feedback.tone <”. A value is missing after “<”.").waitFor()
    expect(await field.inputValue()).toBe("feedback.tone <")
    await page.goto(`${heddle.url}${at("?q=tone+%3C+1")}`)
    await page.getByText("“tone” is no field.").waitFor()
    await close()
  })

  test("without a match it counts what each clause takes away, and leads on", async () => {
    const { page, close } = await open("?q=status+is+running+and+op+is+refund")
    await page.getByRole("heading", { name: "No trace matches" }).waitFor()
    await page.getByRole("listitem").filter({ hasText: "1 without status is running" }).getByRole("button").click()
    await page.getByText("1 trace", { exact: true }).waitFor()
    await close()
  })

  test("a range of time", async () => {
    const { page, close } = await open("?from=2026-11-20T10:01:00Z&to=2026-11-20T10:02:00Z")
    await page.getByText("61 traces", { exact: true }).waitFor()
    await page.getByRole("button", { name: /^Range of time/ }).click()
    await page.getByRole("menuitem", { name: "All time" }).click()
    await page.getByText("351 traces", { exact: true }).waitFor()
    await close()
  })
})

test("a range of time is shown in the zone of the reader, and has it in the address", async () => {
  const { page, close } = await open("?from=2026-11-20T10:01:30Z&to=2026-11-20T10:02:00Z", {
    timezoneId: "Asia/Tokyo",
  })
  await page.getByText("31 traces", { exact: true }).waitFor()
  await page.getByRole("button", { name: /^Range of time: .*19:01.*19:02/ }).click()
  await page.getByRole("menuitem", { name: "Between two times…" }).click()
  const dialog = page.getByRole("dialog", { name: "Between two times" })
  expect(await dialog.getByLabel("From").inputValue()).toMatch(/^2026-11-20T19:01:30/)
  await dialog.getByLabel("To").fill("2026-11-20T19:03")
  await dialog.getByRole("button", { name: "Show" }).click()
  await page.getByText("91 traces", { exact: true }).waitFor()
  expect([search(page).get("from"), search(page).get("to")]).toEqual(["2026-11-20T10:01:30Z", "2026-11-20T10:03:00Z"])
  await close()
})

describe("values beside the table", () => {
  const values = (page: Page, field: string) => page.getByRole("group", { name: field })

  test("are counted, and bound to the filter both ways", async () => {
    const { page, close } = await open()
    const status = values(page, "Status")
    await status.getByText("344", { exact: true }).waitFor()
    await status.getByLabel("error").check()
    await page.getByText("7 traces", { exact: true }).waitFor()
    expect(search(page).get("q")).toBe("status is error")
    // The field's other values stay to be chosen; values of other fields are counted among the filtered traces.
    await status.getByText("344", { exact: true }).waitFor()
    await values(page, "Operation").getByText("7", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Remove status is error" }).click()
    await page.getByText("351 traces", { exact: true }).waitFor()
    expect(await status.getByLabel("error").isChecked()).toBe(false)
    await page.getByRole("combobox", { name: "Filter" }).fill("op in refund, handle_ticket")
    await page.getByRole("combobox", { name: "Filter" }).press("Enter")
    await expect.poll(() => values(page, "Operation").getByLabel("refund").isChecked()).toBe(true)
    await values(page, "Operation").getByLabel("handle_ticket").uncheck()
    await page.getByText("1 trace", { exact: true }).waitFor()
    expect(search(page).get("q")).toBe("op is refund")
    await close()
  })

  test("count all only when they are asked to, and say how far they came", async () => {
    const { page, close } = await open()
    await page.route("**/calls/facets", async (route) => {
      const answer = await route.fetch()
      const isPart = (route.request().postDataJSON() as { budget_ms?: number }).budget_ms !== undefined
      const body = (await answer.json()) as object
      await route.fulfill({ json: isPart ? { ...body, counted_from: "2026-11-20T10:03:00Z" } : body })
    })
    await page.reload()
    await values(page, "Status").getByText("≥ 344").waitFor()
    await page.getByRole("button", { name: "Count all" }).click()
    await values(page, "Status").getByText("344", { exact: true }).waitFor()
    await page.getByText("Counted back to").waitFor({ state: "hidden" })
    await page.unrouteAll({ behavior: "wait" })
    await close()
  })

  test("are put away by a switch that is in the address", async () => {
    const { page, close } = await open()
    await values(page, "Status").waitFor()
    await page.getByRole("button", { name: "Values" }).click()
    await values(page, "Status").waitFor({ state: "hidden" })
    expect(search(page).get("values")).toBe("off")
    await close()
  })

  test.each([
    ["a telephone", phone],
    ["a window without room beside the table", { width: 1024, height: 768 }],
  ])("have a window of their own on %s, whole, and the filter follows", async (_what, viewport) => {
    const other = `local/narrow-${viewport.width}`
    const long = "handle_the_ticket_of_a_customer_who_has_written_a_name_that_is_wider_than_a_telephone"
    await sendTo(other, [
      callOf({}),
      callOf({ op_name: long, exception: "Timeout", inputs: { model: `wandb-artifact:///${other}/${long}:step40` } }),
    ])
    const { page, close } = await signedIn(browser, heddle, `/${other}/traces`, { viewport })
    const button = page.getByRole("button", { name: "Values" })
    await button.click()
    const dialog = page.getByRole("dialog", { name: "Values" })
    await dialog.getByRole("group", { name: "Operation" }).getByLabel(long).waitFor()
    expect(await findings(page)).toEqual([])
    const cut = `(
      // What is cut says the rest where it is pointed at.
      [...document.querySelectorAll("[role=dialog], [role=dialog] fieldset, [role=dialog] section")]
        .filter((one) => one.scrollWidth > one.clientWidth).length + document.documentElement.scrollWidth - innerWidth)`
    expect(await page.evaluate<number>(cut)).toBe(0)
    if (viewport === phone) {
      const heights = await dialog
        .getByRole("checkbox")
        .evaluateAll((all) => all.map((one) => one.parentElement?.getBoundingClientRect().height ?? 0))
      expect(heights.filter((height) => height < 44)).toEqual([])
    }
    await dialog.getByRole("group", { name: "Status" }).getByLabel("error").check()
    await dialog.getByText("1 trace", { exact: true }).waitFor()
    expect(search(page).get("q")).toBe("status is error")
    await dialog.getByRole("button", { name: "Done" }).click()
    await page.getByRole("button", { name: "Remove status is error" }).waitFor()
    expect(await button.evaluate((one) => one.ownerDocument.activeElement === one)).toBe(true)
    await close()
  })

  test("say that there are none in a range of time without a call", async () => {
    const { page, close } = await open("?from=2026-01-01&to=2026-01-02")
    await page.getByText("No call here has a value to choose.").waitFor()
    await close()
  })

  test("and of time there are bars, which take a range", async () => {
    await sendTo("local/hours", [callOf({ at: start - 20 * 3_600_000 }), callOf({}), callOf({ at: start + 1 })])
    const { page, close } = await signedIn(browser, heddle, "/local/hours/traces")
    const bars = page.getByRole("img", { name: /^3 calls from/ })
    await bars.waitFor()
    await bars.click({ position: { x: 10, y: 10 } })
    await page.getByText("1 trace", { exact: true }).waitFor()
    expect(search(page).get("from")).toBe("2026-11-19T14:00:00Z")
    expect(search(page).get("to")).toBe("2026-11-19T15:00:00Z")
    await close()
  })

  test("calls that began within a minute have bars of seconds", async () => {
    await sendTo("local/seconds", [callOf({}), callOf({ at: start + 20_000 }), callOf({ at: start + 61_000 })])
    const { page, close } = await signedIn(browser, heddle, "/local/seconds/traces")
    const bars = page.getByRole("img", { name: /^3 calls from/ })
    await bars.waitFor()
    expect(await bars.locator(":scope > *").count()).toBe(62)
    await bars.click({ position: { x: 3, y: 10 } })
    await page.getByText("1 trace", { exact: true }).waitFor()
    expect(search(page).get("from")).toBe("2026-11-20T10:00:00Z")
    expect(search(page).get("to")).toBe("2026-11-20T10:00:01Z")
    await close()
  })
})

describe("saved views", () => {
  const views = (page: Page) => page.getByRole("navigation", { name: "Saved views" })

  test("keep filter, columns and order in the project under a name, are changed, renamed and deleted", async () => {
    const { page, close } = await open("?q=status+is+error&cols=time,name&sort=duration")
    await views(page).getByRole("button", { name: "Save view" }).click()
    await page.getByRole("textbox", { name: "Name" }).fill("Failed lately")
    await page.getByRole("dialog").getByRole("button", { name: "Save view" }).click()
    await views(page).getByRole("link", { name: "Failed lately" }).waitFor()
    await page.waitForURL((url) => url.searchParams.get("view")?.startsWith("traces-view-") === true)

    // Another person opens the view by its link, from the table without a filter.
    const other = await open()
    await views(other.page).getByRole("link", { name: "Failed lately" }).click()
    await other.page.getByText("7 traces", { exact: true }).waitFor()
    expect(search(other.page).get("cols")).toBe("time,name")
    expect(search(other.page).get("sort")).toBe("duration")
    expect(await views(other.page).getByRole("link", { name: "Failed lately" }).getAttribute("aria-current")).toBe(
      "page",
    )
    await other.page.getByRole("button", { name: "Remove status is error" }).click()
    await views(other.page).getByText("changed").waitFor()
    const menu = views(other.page).getByRole("button", { name: /^What to do with the view/ })
    await menu.click()
    await other.page.getByRole("menuitem", { name: "Save the changes" }).click()
    await views(other.page).getByText("changed").waitFor({ state: "hidden" })
    // The view is stored as the kind of object that the SDK has for views.
    const stored = async () => {
      const { objs } = await heddle.send<{ objs: { val: { definition: object; label: string } }[] }>(
        "POST",
        "/objs/query",
        {
          project_id: project,
          filter: { base_object_classes: ["SavedView"], latest_only: true },
        },
      )
      return objs.map(({ val }) => [val.label, val.definition])
    }
    const [[, saved] = []] = await stored()
    // A new name keeps what the view had, also while something else is shown.
    await other.page.getByRole("combobox", { name: "Filter" }).fill("op is refund")
    await other.page.getByRole("combobox", { name: "Filter" }).press("Enter")
    await views(other.page).getByText("changed").waitFor()
    await menu.click()
    await other.page.getByRole("menuitem", { name: "Rename…" }).click()
    await other.page.getByRole("textbox", { name: "Name" }).fill("By duration")
    await other.page.getByRole("button", { name: "Rename" }).click()
    await views(other.page).getByRole("link", { name: "By duration" }).waitFor()
    const renamed = await stored()
    expect(renamed).toEqual([["By duration", saved]])
    expect(renamed).toEqual([
      [
        "By duration",
        expect.objectContaining({
          filter: expect.objectContaining({ trace_roots_only: true }),
          sort_by: [expect.objectContaining({ field: "summary.weave.latency_ms", direction: "asc" })],
        }),
      ],
    ])

    await menu.click()
    await other.page.getByRole("menuitem", { name: "Delete…" }).click()
    await other.page.getByRole("button", { name: "Delete By duration" }).click()
    await views(other.page).getByRole("link", { name: "By duration" }).waitFor({ state: "hidden" })
    await other.close()
    await close()
  })
})

describe("two calls compared", () => {
  test("c opens what differs: figures, parameters, words", async () => {
    const said = (content: string) => [{ role: "user", content }]
    await sendTo("local/pair", [
      callOf({
        op_name: "pair",
        ms: 1000,
        inputs: { model: "m", temperature: 0.5, messages: said("May I send it back?") },
        output: "No refund after thirty days.",
        summary: { usage: { m: { prompt_tokens: 100, completion_tokens: 10 } } },
      }),
      callOf({
        op_name: "pair",
        at: start - 1000,
        ms: 3000,
        inputs: { model: "m", temperature: 1, messages: said("May I send it back?") },
        output: "A refund after sixty days.",
        summary: { usage: { m: { prompt_tokens: 150, completion_tokens: 10 } } },
      }),
    ])
    const { page, close } = await signedIn(browser, heddle, "/local/pair/traces")
    await row(page, 2).waitFor()
    for (const key of ["j", "x", "j", "x", "c"]) await page.keyboard.press(key)
    await page.waitForURL(/\/traces\/compare\?calls=/)
    const figures = page.getByRole("table", { name: "Figures of both calls" })
    await figures.getByRole("row", { name: /Duration.*1\.00.*3\.00.*\+2\.00.*\+200\.0/ }).waitFor()
    await figures.getByRole("row", { name: /Tokens in 100 150 \+50 \(\+50\.0/ }).waitFor()
    await page.getByRole("region", { name: "Messages" }).getByText("the same in both").waitFor()
    const parameters = page.getByRole("region", { name: "Parameters" })
    await parameters.getByText("temperature").waitFor()
    expect([await parameters.locator("del").textContent(), await parameters.locator("ins").textContent()]).toEqual([
      "0.5",
      "1",
    ])
    const output = page.getByRole("region", { name: "Output" })
    expect(await output.locator("del").allTextContents()).toEqual(["No", "thirty"])
    expect(await output.locator("ins").allTextContents()).toEqual(["A", "sixty"])
    await page.getByRole("button", { name: "Swap" }).click()
    await expect.poll(() => output.locator("del").allTextContents()).toEqual(["A", "sixty"])
    expect(await findings(page)).toEqual([])
    // The page of one call has a button that compares it with the call before it.
    await figures.getByRole("row", { name: /^Call/ }).getByRole("link").last().click()
    await page.getByRole("button", { name: "Compare with the one before" }).click()
    await page.waitForURL(/\/traces\/compare\?calls=/)
    await figures.getByRole("row", { name: /Tokens in 150 100/ }).waitFor()
    await close()
  })

  test("of two that failed the errors are compared", async () => {
    const failed = (exception: string) => callOf({ op_name: "pay", output: null, exception })
    const pair = [failed("Timeout after 3 s"), failed("Timeout after 9 s")]
    await sendTo("local/failures", pair)
    const ids = pair.map(({ id }) => id).join(",")
    const { page, close } = await signedIn(browser, heddle, `/local/failures/traces/compare?calls=${ids}`)
    const error = page.getByRole("region", { name: "Error" })
    await error.getByText("1 value differs").waitFor()
    expect(await error.locator("del").allTextContents()).toEqual(["3"])
    expect(await error.locator("ins").allTextContents()).toEqual(["9"])
    await page.getByRole("region", { name: "Output" }).getByText("the same in both").waitFor()
    await close()
  })

  test("the one before is found among calls that began within the same millisecond", async () => {
    const burst = [1, 2, 3, 4].map((place) => ({
      ...callOf({ op_name: "burst", question: `burst ${place}` }),
      started_at: `2026-11-20T10:00:00.000${place}00Z`,
    }))
    await sendTo("local/burst", burst)
    const [first, second] = burst
    const { page, close } = await signedIn(browser, heddle, `/local/burst/traces/${second?.trace_id}`)
    await page.getByRole("button", { name: "Compare with the one before" }).click()
    await page.waitForURL(/\/traces\/compare\?/)
    expect(search(page).get("calls")).toBe(`${first?.id},${second?.id}`)
    await close()
  })

  test("whoever has gone elsewhere when the call before is found stays there", async () => {
    const pair = [1, 2].map((place) => callOf({ op_name: "left", question: `left ${place}` }))
    await sendTo("local/elsewhere", pair)
    const { page, close } = await signedIn(browser, heddle, `/local/elsewhere/traces/${pair[1]?.trace_id}`)
    const isSearch = (_method: string, body: string) => body.includes("op_names")
    const { came, release } = await heldBack(page, "**/calls/stream_query", isSearch)
    await page.getByRole("button", { name: "Compare with the one before" }).click()
    await came
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Models & jobs" }).click()
    await page.getByRole("heading", { name: "Models & jobs", level: 1 }).waitFor()
    await release()
    expect(new URL(page.url()).pathname).toBe("/local/elsewhere/models")
    await close()
  })

  test("calls that are not there say so, and without calls it says how to choose", async () => {
    const { page, close } = await signedIn(browser, heddle, `/${project}/traces/compare?calls=one,two`)
    await page.getByText("The calls are not here.").waitFor()
    await page.getByRole("link", { name: "All traces of traced" }).click()
    await page.getByRole("grid", { name: "Traces" }).waitFor()
    await page.goto(`${heddle.url}/${project}/traces/compare`)
    await page.getByRole("heading", { name: "Choose two calls" }).waitFor()
    await close()
  })
})

test("a click on a column's head sorts the table, and the order is in the address", async () => {
  const { page, close } = await open()
  await page
    .getByRole("columnheader", { name: /Duration/ })
    .getByRole("button")
    .click()
  await row(page, 1).getByText("zipper").waitFor()
  await page
    .getByRole("columnheader", { name: /Duration/ })
    .getByRole("button")
    .click()
  await row(page, 1).getByText("100 ms").waitFor()
  expect(search(page).get("sort")).toBe("duration")
  // What cannot be sorted, where one would expect it, says why.
  const cost = page.getByRole("columnheader", { name: /Cost ?, Cannot be sorted: .* Tokens can be sorted/ })
  await cost.getByTitle(/worked out from the prices/).waitFor()
  await close()
})

test("the most tokens come first, as calls report them, and a filter asks for them", async () => {
  const { page, close } = await open()
  const byTokens = page.getByRole("columnheader", { name: /Tokens/ }).getByRole("button")
  await byTokens.click()
  await row(page, 1).getByText("460", { exact: true }).waitFor()
  await byTokens.click()
  await row(page, 1).getByText("111", { exact: true }).waitFor()
  expect(search(page).get("sort")).toBe("tokens")
  expect(await page.getByText("reports no tokens itself").count()).toBe(0)
  const field = page.getByRole("combobox", { name: "Filter" })
  await field.fill("tokens > 455")
  await field.press("Enter")
  await page.getByText("5 traces", { exact: true }).waitFor()
  await close()
})

test("traces whose figures are added up of what is inside of them come last, which the table says", async () => {
  const other = "local/tokens-inside"
  const outer = callOf({ at: start, ms: 900, question: "outer" })
  const inner = { op_name: "ask", at: start, ms: 500, question: "inner", parent_id: outer.id, trace_id: outer.trace_id }
  const usage = (prompt_tokens: number) => ({ summary: { usage: { m: { prompt_tokens } } } })
  await sendTo(other, [
    outer,
    callOf({ ...inner, ...usage(900) }),
    callOf({ at: start, question: "own", ...usage(20) }),
  ])
  const { page, close } = await signedIn(browser, heddle, `/${other}/traces?sort=-tokens`)
  await row(page, 2).getByText("900", { exact: true }).waitFor()
  await row(page, 1).getByText("20", { exact: true }).waitFor()
  await page.getByText("Traces whose outermost call reports no tokens itself come last.").waitFor()
  await page.goto(`${heddle.url}/${other}/traces?sort=-tokens&scope=all`)
  await row(page, 1).getByText("900", { exact: true }).waitFor()
  expect(await page.getByText("reports no tokens itself").count()).toBe(0)
  await close()
})

test("in a window too narrow for its columns the heads stand over their cells", async () => {
  const { page, close } = await open()
  for (const width of [1440, 1024]) {
    await page.setViewportSize({ width, height: 700 })
    await row(page, 1).getByText("zipper").waitFor()
    const left = async (part: "columnheader" | "gridcell", of: Locator) =>
      (await of.getByRole(part).all()).slice(0, 9).map(async (one) => Math.round((await one.boundingBox())?.x ?? 0))
    const heads = await Promise.all(await left("columnheader", row(page, 0)))
    expect(heads).toEqual(await Promise.all(await left("gridcell", row(page, 1))))
  }
  await close()
})

test("back from a trace the list is as it was left: its rows, and where they were scrolled to", async () => {
  const { page, close } = await open()
  await counted(page).waitFor()
  const scrolled = () => page.evaluate<number>(`${box}.scrollTop`)
  await page.evaluate(`${box}.scrollTop = 9_000`)
  const place = row(page, 325)
  await place.getByText("parcel").waitFor()
  const text = await place.innerText()
  await place.getByRole("link").first().click()
  await page.getByRole("tree", { name: "Calls of the trace" }).waitFor()
  await page.goBack()
  await place.getByText("parcel").waitFor()
  expect([await scrolled(), await place.innerText()]).toEqual([9_000, text])
  // One who comes anew begins at the top.
  await page.getByRole("link", { name: "Overview" }).click()
  await place.waitFor({ state: "detached" })
  await page.getByRole("link", { name: "Traces", exact: true }).click()
  await row(page, 1).getByRole("link").waitFor()
  expect(await scrolled()).toBe(0)
  await close()
})

test("a failed call says what the exception says, also as the Weave SDKs write it", async () => {
  const frame = { filename: "agent.py", line_number: 14, function_name: "agent", text: "search(question)" }
  const sent = { type: "ValueError", message: "no order 88107", traceback: [frame] }
  const failed = callOf({ op_name: "pay", output: null, exception: JSON.stringify(sent) })
  await sendTo("local/exceptions", [failed])
  const { page, close } = await signedIn(browser, heddle, "/local/exceptions")
  await page.getByRole("cell", { name: "ValueError: no order 88107", exact: true }).waitFor()
  await page.goto(`${heddle.url}/local/exceptions/traces`)
  await row(page, 1).getByText("ValueError: no order 88107", { exact: true }).waitFor()
  await page.goto(`${heddle.url}/local/exceptions/traces/${failed.trace_id}`)
  await page.getByText("The way there, 2 lines").click()
  await page.getByText('File "agent.py", line 14, in agent').waitFor()
  await close()
})

test("texts take the room that is left; a width that somebody sets holds, and so do the others", async () => {
  const { page, close } = await open()
  await page.setViewportSize({ width: 2200, height: 800 })
  await row(page, 1).getByText("zipper").waitFor()
  const widths = async () => {
    const heads = await page.getByRole("columnheader").all()
    const boxes = await Promise.all(heads.map((head) => head.boundingBox()))
    return boxes.map((found) => Math.round(found?.width ?? 0))
  }
  const table = await page.getByRole("grid", { name: "Traces" }).boundingBox()
  const before = await widths()
  expect(before.reduce((sum, width) => sum + width, 0)).toBe((table?.width ?? 0) - 8)
  const edge = page.getByRole("separator", { name: "Width of Input" })
  await edge.hover()
  await page.mouse.down()
  const { x = 0, y = 0 } = (await edge.boundingBox()) ?? {}
  await page.mouse.move(x - 96.5, y + 9)
  await page.mouse.up()
  const input = before[4] ?? 0
  const [narrower = 0] = (await widths()).slice(4)
  expect([input - narrower > 80, input - narrower < 120]).toEqual([true, true])
  expect((await widths()).toSpliced(4, 1)).toEqual(before.toSpliced(4, 1))
  await page.reload()
  await row(page, 1).getByText("zipper").waitFor()
  expect((await widths())[4]).toBe(narrower)
  await edge.focus()
  await page.keyboard.press("ArrowRight")
  expect((await widths())[4]).toBe(narrower + 16)
  await close()
})

test("any value of a payload is a column, with its digits as they were written", async () => {
  const { page, close } = await open("?cols=name,inputs.big&sort=inputs.ticket.number")
  await row(page, 1).getByText("12345678901234567890").waitFor()
  await page.getByRole("button", { name: "Columns" }).click()
  await page.getByLabel("Any value").fill("inputs.ticket.number")
  await page.getByRole("button", { name: "Add" }).click()
  await page.getByRole("button", { name: "Done" }).click()
  expect(search(page).get("cols")).toBe("name,inputs.big,inputs.ticket.number")
  await page.getByRole("columnheader", { name: "inputs.ticket.number" }).waitFor()
  await close()
})

test("j, k and x walk and select, the selection is in the address, Enter opens", async () => {
  const { page, close } = await open()
  await row(page, 1).getByText("zipper").waitFor()
  for (const key of ["j", "x", "j", "j", "k", "x"]) await page.keyboard.press(key)
  await page.getByText("2 selected").waitFor()
  expect((search(page).get("picked") ?? "").split(",")).toHaveLength(2)
  await page.waitForURL((url) => url.searchParams.has("row"))
  await page.reload()
  await page.getByText("2 selected").waitFor()
  await expect.poll(() => row(page, 2).getAttribute("aria-current")).toBe("true")
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download JSONL" }).click(),
  ])
  expect(download.suggestedFilename()).toBe("traced-calls.jsonl")
  await page.keyboard.press("Escape")
  await page.getByText("2 selected").waitFor({ state: "hidden" })
  await row(page, 1).click()
  await page.keyboard.press("Enter")
  await page.waitForURL(/\/traces\/[0-9a-f-]{36}/)
  await close()
})

test("a selection that is too long for an address is trained on, queued and read again; another browser says that it has none", async () => {
  const { page, close } = await open()
  await counted(page).waitFor()
  await page.getByLabel("Select row 1", { exact: true }).click()
  await page.evaluate(`${box}.scrollTop = 28 * 140`)
  await row(page, 150).getByText("Where is parcel 201?").waitFor()
  await page.getByLabel("Select row 150", { exact: true }).click({ modifiers: ["Shift"] })
  await page.getByText("150 selected").waitFor()
  await page.getByRole("button", { name: "Train on these…" }).click()
  await page.getByText("150 calls that were picked").waitFor()
  const address = page.url()
  expect(search(page).get("ids")).toMatch(/^kept:[0-9a-f]{16}$/)
  await page.reload()
  await page.getByText("150 calls that were picked").waitFor()

  const stranger = await signedIn(browser, heddle, address.slice(heddle.url.length))
  await stranger.page.getByRole("heading", { name: "The selection is not known here" }).waitFor()
  await stranger.page.getByRole("link", { name: "Select calls" }).click()
  await row(stranger.page, 1).getByText("zipper").waitFor()
  await stranger.close()

  await page.goBack()
  await counted(page).waitFor()
  await page.getByLabel("Select row 1", { exact: true }).click()
  await page.evaluate(`${box}.scrollTop = 28 * 120`)
  await row(page, 130).getByText("Where is parcel 221?").waitFor()
  await page.getByLabel("Select row 130", { exact: true }).click({ modifiers: ["Shift"] })
  await page.getByRole("button", { name: "Add to queue" }).click()
  await page.getByText("130 selected calls.").waitFor()
  await page.getByLabel("Name", { exact: true }).fill("Parcels")
  await page.getByRole("button", { name: "Make the queue" }).click()
  await page.getByText("Choose a question, or write one.").waitFor()
  await page.getByText("130 selected calls.").waitFor()
  await close()
})

test("Enter presses the button or follows the link that has the focus; after j it opens the row again", async () => {
  const { page, close } = await open("?cols=time,name,duration")
  await row(page, 1).getByText("refund").waitFor()
  await row(page, 1).click()
  const head = page.getByRole("columnheader", { name: /Duration/ }).getByRole("button")
  await head.focus()
  await page.keyboard.press("Enter")
  await page.waitForURL((url) => url.searchParams.get("sort") !== null)
  expect(new URL(page.url()).pathname).toBe(`/${project}/traces`)
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Playground" }).focus()
  await page.keyboard.press("Enter")
  await page.waitForURL(/\/playground/)
  await page.goBack()
  await head.focus()
  for (const key of ["j", "Enter"]) await page.keyboard.press(key)
  await page.waitForURL(/\/traces\/[0-9a-f-]{36}/)
  await close()
})

test("new calls are offered; with live tail they come in by themselves, and move nothing that is read", async () => {
  const { page, close } = await open("?q=op+is+tail")
  await page.getByRole("heading", { name: "No trace matches" }).waitFor()
  await send(
    Array.from({ length: 80 }, (_, index) => callOf({ op_name: "tail", at: start + index, question: `tail ${index}` })),
  )
  await page.reload()
  await row(page, 1).getByText("tail 79").waitFor()
  await send([callOf({ op_name: "tail", at: start + 5000, question: "tail offered" })])
  await page.getByRole("button", { name: /1 new trace .*Show them/ }).click()
  await row(page, 1).getByText("tail offered").waitFor()

  await page.getByRole("button", { name: "Live tail" }).click()
  expect(search(page).get("live")).toBe("1")
  await send([callOf({ op_name: "tail", at: start + 6000, question: "tail by itself" })])
  await row(page, 1).getByText("tail by itself").waitFor()

  await page.evaluate(`${box}.scrollTop = 28 * 20`)
  const wanted = row(page, 23)
  const [text, top] = [await wanted.locator("[role=gridcell]").nth(4).textContent(), (await wanted.boundingBox())?.y]
  await send([callOf({ op_name: "tail", at: start + 7000, question: "tail above" })])
  await page.getByText("83 traces", { exact: true }).waitFor()
  await expect.poll(() => page.evaluate(`${box}.scrollTop`)).toBe(28 * 21)
  const moved = row(page, 24)
  await expect.poll(() => moved.locator("[role=gridcell]").nth(4).textContent()).toBe(text)
  expect((await moved.boundingBox())?.y).toBe(top)
  await close()
})

test("a call that runs turns to ok when it has ended", async () => {
  const call = { project_id: project, id: randomUUID(), trace_id: randomUUID() }
  const running = { ...call, op_name: "slowly", started_at: new Date(start).toISOString(), attributes: {}, inputs: {} }
  await heddle.send("POST", "/call/upsert_batch", { batch: [{ mode: "start", req: { start: running } }] })
  const { page, close } = await open("?q=op+is+slowly")
  await row(page, 1).getByText("running", { exact: true }).waitFor()
  const end = { ...call, ended_at: new Date(start + 2000).toISOString(), output: "done at last", summary: {} }
  await heddle.send("POST", "/call/upsert_batch", { batch: [{ mode: "end", req: { end } }] })
  await row(page, 1).getByText("done at last").waitFor()
  await close()
})

test("a project without calls says how the first one comes, and turns when it waits for it", async () => {
  await heddle.send("POST", "/v1/projects", { entity: "local", name: "empty" })
  const { page, close } = await signedIn(browser, heddle, "/local/empty/traces")
  await page.getByRole("heading", { name: "No traces yet" }).waitFor()
  await page.getByRole("button", { name: "Wait for it here" }).click()
  await page.getByText("waiting for the first call").waitFor()
  await heddle.send("POST", "/v2/local/empty/calls/complete", {
    batch: [{ ...callOf({ op_name: "first" }), project_id: "local/empty" }],
  })
  await page.getByRole("link", { name: "first", exact: true }).waitFor()
  await close()
})

test("a project of traces whose outermost calls never came says so, and shows what is inside of them", async () => {
  await heddle.send("POST", "/v1/projects", { entity: "local", name: "rootless" })
  const { page, close } = await signedIn(browser, heddle, "/local/rootless/traces")
  await page.getByRole("button", { name: "Wait for it here" }).click()
  await page.getByText("waiting for the first call").waitFor()
  const lost = { trace_id: randomUUID(), parent_id: randomUUID() }
  await sendTo("local/rootless", [callOf({ op_name: "left_alone", ...lost }), callOf({ op_name: "and_me", ...lost })])
  await page.getByRole("heading", { name: "No trace has its outermost call yet" }).waitFor()
  await page.getByText("This project has 2 calls, all of them inside of calls that did not come").waitFor()
  expect(await page.getByText("No traces yet").count()).toBe(0)
  await page.getByRole("button", { name: "Show all calls" }).click()
  await page.getByRole("link", { name: "left_alone", exact: true }).waitFor()
  expect(new URL(page.url()).searchParams.get("scope")).toBe("all")
  await close()
})

test("when the server does not answer, the table says so in place, with a way on", async () => {
  const { page, close } = await open()
  await row(page, 1).getByText("zipper").waitFor()
  const calls = "**/calls/**"
  await page.route(calls, (route) => route.abort("connectionrefused"))
  await page
    .getByRole("columnheader", { name: /Duration/ })
    .getByRole("button")
    .click()
  await page.getByText("The server does not answer.").first().waitFor()
  await page.unroute(calls)
  await page.getByRole("button", { name: "Try again" }).first().click()
  await row(page, 1).getByText("zipper").waitFor()
  await close()
})

test.each(["light", "dark"] as const)("axe finds nothing serious, %s", async (colorScheme) => {
  const { page, close } = await open("?q=status+is+error", { colorScheme })
  await row(page, 1).getByText("error", { exact: true }).waitFor()
  expect(await findings(page)).toEqual([])
  await close()
  const narrow = await open("", { colorScheme, viewport: phone })
  await row(narrow.page, 1).waitFor()
  expect(await narrow.page.evaluate<number>("document.documentElement.scrollWidth")).toBe(390)
  expect(await findings(narrow.page)).toEqual([])
  await narrow.close()
})
