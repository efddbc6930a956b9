/** The page of one trace: its tree and times, the selected call, errors in it, and a trace that is not there. */
import { execFileSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { flaws } from "./support/axe.ts"
import { foreign, launchBrowser, phone } from "./support/browser.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
const project = "local/spans"
const start = Date.parse("2026-11-20T10:00:00Z")
const trace = randomUUID()
const ids: Record<string, string> = {}

interface Sent {
  name: string
  parent?: string
  at?: number
  ms?: number
}

function callOf({ name, parent, at = 0, ms = 100, ...rest }: Sent & Record<string, unknown>) {
  const id = randomUUID()
  ids[name] ??= id
  return {
    project_id: project,
    id,
    trace_id: trace,
    parent_id: parent === undefined ? null : ids[parent],
    op_name: name.split("#")[0],
    started_at: new Date(start + at).toISOString(),
    ended_at: new Date(start + at + ms).toISOString(),
    attributes: {},
    inputs: {},
    output: null,
    summary: {},
    ...rest,
  }
}

const send = (batch: object[]) => heddle.send("POST", `/v2/${project}/calls/complete`, { batch })

beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Can I exchange it?" },
    { role: "assistant", content: null, tool_calls: [{ function: { name: "find", arguments: '{"policy": "4.2"}' } }] },
    { role: "tool", content: "§ 4.2 allows it" },
  ]
  await send([
    callOf({
      name: "handle_ticket",
      ms: 10_000,
      inputs: { ticket: { words: Array.from({ length: 300 }, (_, n) => `word ${n}`) } },
    }),
  ])
  await send([
    callOf({
      name: "chat.completions",
      parent: "handle_ticket",
      at: 100,
      ms: 3000,
      inputs: { model: "m", messages },
      output: { choices: [{ message: { role: "assistant", content: "Yes, **gladly**." } }] },
      summary: { usage: { m: { prompt_tokens: 1402, completion_tokens: 61 } } },
    }),
    callOf({ name: "search", parent: "handle_ticket", at: 4000, ms: 2000 }),
    callOf({
      name: "refund",
      parent: "handle_ticket",
      at: 7000,
      exception:
        'Traceback (most recent call last):\n  File "agent.py", line 212, in refund\nTimeout: no answer within 8,000 ms',
    }),
  ])
  await send(
    Array.from({ length: 20 }, (_, n) => callOf({ name: `embed#${n}`, parent: "search", at: 4000 + n * 50, ms: 20 })),
  )
  await send([callOf({ name: "deep", parent: "embed#13", at: 4651, ms: 5, exception: "ValueError: empty" })])
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (search = "", options = {}) => signedIn(browser, heddle, `/${project}/traces/${trace}${search}`, options)
const item = (page: Page, name: string | RegExp) => page.getByRole("treeitem").filter({ hasText: name })
const details = (page: Page) => page.getByRole("region", { name: "Selected call" })
const search = (page: Page) => new URL(page.url()).searchParams

describe("the tree", () => {
  test("shows every call with its time, folds repeated ones, and marks what failed", async () => {
    const { page, requests, complaints, close } = await open()
    await page.getByRole("heading", { name: "handle_ticket", level: 1 }).waitFor()
    await page.getByText("25 calls · 10.0 s").waitFor()
    await item(page, "chat.completions").getByText("3.00 s").waitFor()
    await item(page, "×20").getByText("p50 20 ms").waitFor()
    await item(page, "refund").getByRole("img", { name: "failed" }).waitFor()
    await item(page, "×20").click()
    await page.getByText("28 rows of 25 calls").or(page.getByText("26 rows of 25 calls")).waitFor()
    await page.getByRole("button", { name: "Fold repeats" }).click()
    await page.getByText("25 rows of 25 calls").waitFor()
    expect(search(page).get("unfold")).toBe("1")
    expect(foreign(requests, heddle.url)).toEqual([])
    expect(complaints.filter((text) => !/status of (401|503)/.test(text))).toEqual([])
    await close()
  })

  test("e jumps from error to error, into what is folded, and the address follows", async () => {
    const { page, close } = await open()
    await item(page, "refund").waitFor()
    await page.keyboard.press("e")
    await details(page).getByRole("heading", { name: "deep" }).waitFor()
    await details(page).getByText("ValueError: empty").waitFor()
    await item(page, "deep").waitFor()
    await page.keyboard.press("e")
    await details(page).getByRole("heading", { name: "refund" }).waitFor()
    await details(page).getByText("Timeout: no answer within 8,000 ms").first().waitFor()
    await details(page).getByText("The way there, 2 lines").click()
    await details(page).getByText('File "agent.py", line 212').waitFor()
    expect(search(page).get("span")).toBe(ids["refund"])
    await page.keyboard.press("E")
    await details(page).getByRole("heading", { name: "deep" }).waitFor()
    await close()
  })

  test("is walked, opened and closed with keys", async () => {
    const { page, close } = await open()
    const tree = page.getByRole("tree", { name: "Calls of the trace" })
    await item(page, "refund").waitFor()
    await tree.focus()
    await page.keyboard.press("ArrowLeft")
    await page.getByText("1 row of 25 calls").waitFor()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowDown")
    await details(page).getByRole("heading", { name: "chat.completions" }).waitFor()
    await page.keyboard.press("j")
    await details(page).getByRole("heading", { name: "search" }).waitFor()
    await close()
  })

  test("zooms to a call and back, and finds one by its name", async () => {
    const { page, close } = await open(`?span=${ids["search"]}`)
    await details(page).getByRole("heading", { name: "search" }).waitFor()
    await page.keyboard.press("z")
    await page.waitForURL((url) => url.searchParams.get("t0") === "3900" && url.searchParams.get("t1") === "6100")
    await item(page, "chat.completions").getByText("← 3.00 s").waitFor()
    await page.keyboard.press("Z")
    await page.waitForURL((url) => !url.searchParams.has("t0"))
    await page.getByLabel("Find a call by its name").fill("deep")
    await page.getByLabel("Find a call by its name").press("Enter")
    await details(page).getByRole("heading", { name: "deep" }).waitFor()
    await close()
  })
})

describe("the selected call", () => {
  test("of a chat shows who said what, what it used, and keeps its tab in the address", async () => {
    const { page, close } = await open(`?span=${ids["chat.completions"]}`)
    const chat = details(page).getByRole("list", { name: "Chat" })
    await chat.getByText("Can I exchange it?").waitFor()
    await chat.getByText('{"policy": "4.2"}').waitFor()
    await chat.locator("strong").getByText("gladly").waitFor()
    await details(page).getByText("1,402").waitFor()
    await details(page).getByText("no price").waitFor()
    await page.getByRole("tab", { name: "Output" }).click()
    await page.getByRole("tree", { name: "Output" }).getByText("choices").waitFor()
    expect(search(page).get("tab")).toBe("output")
    await page.reload()
    await page.getByRole("tree", { name: "Output" }).getByText("choices").waitFor()
    await close()
  })

  test("finds in its JSON what is not drawn", async () => {
    const { page, close } = await open()
    await page.getByRole("tree", { name: "Input" }).getByText("ticket").waitFor()
    await page.getByLabel("Find in Input").fill("word 287")
    await page.getByLabel("Find in Input").press("Enter")
    await page
      .getByRole("tree", { name: "Input" })
      .getByRole("treeitem", { selected: true })
      .getByText("word 287")
      .waitFor()
    await close()
  })

  test("takes feedback, which is stored with it", async () => {
    const { page, close } = await open(`?span=${ids["search"]}&tab=feedback`)
    await page.getByText("Nobody has said anything of this call yet.").waitFor()
    // It is offered once it is known that she may give feedback.
    await page.getByLabel("Note").waitFor()
    await page.keyboard.press("n")
    await page.keyboard.type("misses § 4.2")
    await page.keyboard.press("Enter")
    await page.getByRole("table", { name: "Feedback" }).getByText("misses § 4.2").waitFor()
    await page.getByRole("button", { name: "Good" }).click()
    await page.getByRole("table", { name: "Feedback" }).getByText("👍").waitFor()
    await close()
  })

  test("keeps a note that is not saved while somebody looks at its other tabs", async () => {
    const { page, close } = await open(`?span=${ids["search"]}&tab=feedback`)
    const pane = page.getByRole("region", { name: "Selected call" })
    await pane.getByLabel("Note").fill("not the newest policy")
    await pane.getByRole("tab", { name: "Output", exact: true }).click()
    await pane.getByLabel("Note").waitFor({ state: "hidden" })
    await pane.getByRole("tab", { name: /^Feedback/ }).click()
    expect(await pane.getByLabel("Note").inputValue()).toBe("not the newest policy")
    await close()
  })

  test("that runs shows its end by itself", async () => {
    const call = { project_id: project, id: randomUUID(), trace_id: randomUUID() }
    const running = {
      ...call,
      op_name: "slowly",
      started_at: new Date(start).toISOString(),
      attributes: {},
      inputs: {},
    }
    await heddle.send("POST", "/call/upsert_batch", { batch: [{ mode: "start", req: { start: running } }] })
    const { page, close } = await signedIn(browser, heddle, `/${project}/traces/${call.trace_id}?tab=output`)
    await page.getByText("The call runs still.").waitFor()
    const end = {
      ...call,
      ended_at: new Date(start + 2000).toISOString(),
      output: { said: "done at last" },
      summary: {},
    }
    await heddle.send("POST", "/call/upsert_batch", { batch: [{ mode: "end", req: { end } }] })
    await page.getByRole("tree", { name: "Output" }).getByText("done at last").waitFor()
    await page.getByText("1 call · 2.00 s").waitFor()
    await close()
  })
})

test("code that reads the selected call is copied, and reads it", async () => {
  await send([callOf({ name: "quoted", parent: "handle_ticket", at: 9600, output: "by curl" })])
  const { page, close } = await signedIn(browser, heddle, `/${project}/traces/${trace}?span=${ids["quoted"]}`, {
    permissions: ["clipboard-read", "clipboard-write"],
  })
  const copied = async (name: string) => {
    await details(page).getByRole("button", { name: "Copy code that reads the call" }).click()
    await page.getByRole("menuitem", { name }).click()
    await details(page).getByRole("button", { name: "Copied" }).waitFor()
    const text = await page.evaluate<string>("navigator.clipboard.readText()")
    await details(page).getByRole("button", { name: "Copy code that reads the call" }).waitFor()
    return text
  }
  const curl = await copied("Copy as curl")
  const answer = execFileSync("sh", ["-c", `${curl} --silent`], { env: { ...process.env, WANDB_API_KEY: heddle.key } })
  expect((JSON.parse(answer.toString()) as { call: { output: unknown } }).call.output).toBe("by curl")
  const python = await copied("Copy as Python")
  expect(python).toContain(`os.environ["WANDB_BASE_URL"] = "${heddle.url}"`)
  expect(python).toContain(`client.get_call("${ids["quoted"]}")`)
  await close()
})

test("what went in and what came out stand together", async () => {
  await send([
    callOf({ name: "price", parent: "handle_ticket", at: 9000, inputs: { item: "boots" }, output: "149 euros" }),
  ])
  const { page, close } = await open(`?span=${ids["price"]}`)
  await details(page).getByRole("region", { name: "Input" }).getByText('"boots"').waitFor()
  await details(page).getByRole("region", { name: "Output" }).getByText("149 euros").waitFor()
  await close()
})

test("long input and output share the room that is left, and scroll by themselves", async () => {
  const long = Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`field_${n}`, n]))
  await send([callOf({ name: "table", parent: "handle_ticket", at: 9500, inputs: long, output: long })])
  const { page, close } = await open(`?span=${ids["table"]}`)
  await details(page).getByRole("region", { name: "Output" }).getByText("field_0").waitFor()
  const boxes = await Promise.all(
    ["Input", "Output"].map((name) => details(page).getByRole("region", { name }).boundingBox()),
  )
  // A line is between them.
  expect(Math.abs((boxes[0]?.height ?? 0) - (boxes[1]?.height ?? 0))).toBeLessThanOrEqual(1)
  expect((boxes[1]?.y ?? 0) + (boxes[1]?.height ?? 0)).toBe(900)
  await close()
})

test("a text of several lines, and a long one, is read as it was written", async () => {
  const lines = Array.from({ length: 12 }, (_, n) => `${n}. ${"All boots are waterproof. ".repeat(2)}`)
  const answer = lines.join("\n")
  await send([
    callOf({ name: "write", parent: "handle_ticket", at: 9600, inputs: { plan: answer, last: 1 }, output: answer }),
  ])
  const { page, close } = await open(`?span=${ids["write"]}`)
  const output = details(page).getByRole("region", { name: "Output" })
  await output.getByText("11. All boots", { exact: false }).waitFor()
  expect(await output.getByText(answer).count()).toBe(1)
  const input = details(page).getByRole("tree", { name: "Input" })
  const [plan, last] = [input.getByRole("treeitem", { name: /^plan/ }), input.getByRole("treeitem", { name: /^last/ })]
  expect((await plan.boundingBox())?.height).toBe(22)
  expect(await plan.getAttribute("aria-expanded")).toBe("false")
  await plan.click()
  await input.getByText(answer).waitFor()
  const text = await input.getByText(answer).boundingBox()
  expect((await last.boundingBox())?.y).toBeGreaterThanOrEqual((text?.y ?? 0) + (text?.height ?? Infinity))
  await plan.click()
  await input.getByText(answer).waitFor({ state: "detached" })
  await close()
})

test("on a phone the name of the selected call is not squeezed by its tools", async () => {
  const { page, close } = await open(`?span=${ids["refund"]}`, { viewport: phone })
  const name = details(page).getByRole("heading", { name: "refund" })
  await name.waitFor()
  const [wanted, given] = await name.evaluate((element) => [element.scrollWidth, element.clientWidth])
  expect(wanted).toBe(given)
  await close()
})

test("the pages of a missing trace, and of a call of another trace, say what happened and lead on", async () => {
  const { page, close } = await signedIn(browser, heddle, `/${project}/traces/none`)
  await page.getByRole("heading", { name: "There is no such trace here" }).waitFor()
  await page.getByRole("link", { name: "All traces of spans" }).click()
  await page.getByRole("grid", { name: "Traces" }).waitFor()
  await page.goto(`${heddle.url}/local/unknown/traces/${trace}`)
  await page.getByRole("heading", { name: "There is no such trace here" }).waitFor()
  await page.getByRole("link", { name: "All traces of unknown" }).click()
  await page.getByRole("heading", { name: "There is no such project here" }).waitFor()
  await page.goto(`${heddle.url}/${project}/traces/${trace}?span=elsewhere`)
  await page.getByText("The call is not in this trace.").waitFor()
  await page.getByRole("button", { name: "Try again" }).click()
  await details(page).getByRole("heading", { name: "handle_ticket" }).waitFor()
  await close()
})

test("spans of OpenTelemetry are a trace like any other", async () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c"
  const span = {
    traceId,
    kind: 1,
    startTimeUnixNano: `${start}000000`,
    endTimeUnixNano: `${start + 1500}000000`,
    attributes: [],
  }
  const resourceSpans = [
    {
      resource: { attributes: [] },
      scopeSpans: [
        {
          scope: { name: "test" },
          spans: [
            { ...span, spanId: "b7ad6b7169203331", name: "outer" },
            { ...span, spanId: "b7ad6b7169203332", parentSpanId: "b7ad6b7169203331", name: "inner" },
          ],
        },
      ],
    },
  ]
  const answer = await fetch(`${heddle.url}/otel/v1/traces`, {
    method: "POST",
    headers: { authorization: `Bearer ${heddle.key}`, "content-type": "application/json", project_id: project },
    body: JSON.stringify({ resourceSpans }),
  })
  expect(answer.status).toBe(200)
  const { page, close } = await signedIn(browser, heddle, `/${project}/traces?q=op+is+outer`)
  await page.getByRole("link", { name: "outer", exact: true }).click()
  await item(page, "inner").getByText("1.50 s").waitFor()
  await close()
})

describe("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", () => {
  test.each(["chat", "input", "output", "feedback", "details"])("at the tab %s", async (tab) => {
    const { page, close } = await open(`?span=${ids["chat.completions"]}&tab=${tab}`)
    await details(page).getByText("1,402").waitFor()
    expect(await flaws(page)).toEqual([])
    await close()
  })

  test("of input and output together", async () => {
    const { page, close } = await open(`?span=${ids["search"]}`)
    await details(page).getByRole("region", { name: "Output" }).waitFor()
    expect(await flaws(page)).toEqual([])
    await close()
  })

  test("of a call that failed", async () => {
    const { page, close } = await open(`?span=${ids["refund"]}`, { viewport: phone })
    await details(page).getByText("Timeout: no answer").first().waitFor()
    expect(await flaws(page)).toEqual([])
    await close()
  })
})
