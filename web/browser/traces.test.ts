/** The table of traces over calls that clients have sent: found, sorted, chosen, live. */
import { randomUUID } from "node:crypto"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { foreign, launchBrowser, phone } from "./support/browser.ts"
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

const send = (batch: object[]) => heddle.send("POST", `/v2/${project}/calls/complete`, { batch })

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
  // Written by hand: a number that JavaScript would change.
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
/** What scrolls, as the page itself names it. */
const box = `document.querySelector("[role=grid] > div")`
const search = (page: Page) => new URL(page.url()).searchParams

describe("what is listed", () => {
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

  test("rows far below are read when they are seen", async () => {
    const { page, close } = await open()
    await row(page, 1).getByText("zipper").waitFor()
    await page.evaluate(`${box}.scrollTop = ${box}.scrollHeight`)
    await page.getByText("Where is parcel 0?").waitFor()
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

  test("what is not understood is said at its place, and stays to be mended", async () => {
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

test("sorted by a head, which is in the address", async () => {
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

test("a server that does not answer is said in place, with a way on", async () => {
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
