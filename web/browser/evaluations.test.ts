/** Evaluations, one with its runs, and runs compared row by row, on a server that was filled through its API. */
import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { flawsOfPages } from "./support/axe.ts"
import { foreign, launchBrowser, type Visit } from "./support/browser.ts"
import { type FilledEvaluation, fillEvaluation } from "./support/fill-evaluations.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
let filled: FilledEvaluation
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  filled = await fillEvaluation(heddle, "support")
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (path: string, options = {}) => signedIn(browser, heddle, `/${filled.id}${path}`, options)
const rowOf = (page: Page, table: string, name: string) =>
  page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: name })
const search = (page: Page) => new URL(page.url()).searchParams
const compared = (...runs: number[]) => `/compare?runs=${runs.map((index) => filled.runs[index]).join(",")}`

/** Complaints without the 401 of the one request that asks who is signed in, before anybody is. */
const complaintsOf = ({ complaints }: Visit) => complaints.filter((text) => !text.includes("401"))

/** Text of a row with one space for each run of thin spaces and line breaks. */
const plain = (text: string) => text.replaceAll(/\s+/g, " ").trim()

test("the list has each evaluation with its newest run's scores, and a link to its page", async () => {
  const visit = await open("/evaluations")
  const row = rowOf(visit.page, "Evaluations", "returns-regression")
  await row.getByText(/judge\.tone/).waitFor()
  expect(plain(await row.innerText())).toMatch(
    /^returns-regression 3 other-model v0 judge\.tone 3\.2\d\d \[3\.\d+, 3\.\d+\] resolved 59\.3 % \[5\d\.\d, 6\d\.\d\]/,
  )
  const section = visit.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Evaluations" })
  expect(await section.getAttribute("aria-current")).toBe("page")
  await row.getByRole("link", { name: "returns-regression", exact: true }).click()
  await visit.page.waitForURL(`**/${filled.id}/evaluations/returns-regression`)
  await visit.page.getByRole("grid", { name: "Runs of returns-regression" }).waitFor()
  expect([foreign(visit.requests, heddle.url), complaintsOf(visit)]).toEqual([[], []])
  await visit.close()
})

describe("one evaluation", () => {
  const runNames = async (page: Page) =>
    (await page.getByRole("grid", { name: "Runs of returns-regression" }).getByRole("link").allInnerTexts()).map(plain)

  test("its runs with scores, latency, tokens and costs, sorted by any of them", async () => {
    const { page, close } = await open("/evaluations/returns-regression")
    await expect.poll(() => runNames(page)).toEqual(["other-model v0", "returns-agent v1", "returns-agent v0"])
    const newer = page.getByRole("row").filter({ hasText: "returns-agent v1" })
    // 30 of 41 rows; the figures are SciPy's.
    await newer.getByText("73.2").waitFor()
    await newer.getByText("[58.1, 84.3]").waitFor()
    await page.getByRole("button", { name: /^resolved/ }).click()
    await expect.poll(() => runNames(page)).toEqual(["returns-agent v1", "other-model v0", "returns-agent v0"])
    expect(search(page).get("sort")).toBe("score:resolved")
    // Runs on other versions of the dataset are told apart, in the table and over the chart.
    const grid = page.getByRole("grid", { name: "Runs of returns-regression" })
    await expect
      .poll(async () => (await grid.getByText(/^returns-eval v\d$/).allInnerTexts()).toSorted())
      .toEqual(["returns-eval v0", "returns-eval v1", "returns-eval v1"])
    await page.getByText("on 2 versions of datasets").waitFor()
    await page.getByRole("button", { name: /^resolved/ }).click()
    await expect.poll(() => runNames(page)).toEqual(["returns-agent v0", "other-model v0", "returns-agent v1"])
    await close()
  })

  test("one metric over the runs, chosen in the address", async () => {
    const { page, close } = await open("/evaluations/returns-regression")
    await page.getByLabel("Metric over the runs").selectOption("latency")
    await expect.poll(() => search(page).get("metric")).toBe("latency")
    await page.getByRole("region", { name: "Over the runs" }).locator('[data-drawn="true"]').waitFor()
    await page.getByRole("button", { name: "Show as a table: latency over the runs" }).click()
    await expect.poll(() => page.getByRole("region", { name: "Over the runs" }).locator("tbody tr").count()).toBe(3)
    await close()
  })

  test("runs that are ticked are compared, the oldest as the baseline", async () => {
    const { page, close } = await open("/evaluations/returns-regression")
    await page.getByRole("checkbox", { name: "Select row 1" }).check()
    await page.getByRole("checkbox", { name: "Select row 3" }).check()
    await page.getByRole("link", { name: "Compare 2 runs" }).click()
    await page.getByRole("heading", { name: "other-model v0 against returns-agent v0" }).waitFor()
    expect(search(page).get("runs")).toBe([filled.runs[0], filled.runs[2]].join(","))
    await close()
  })

  test("a mean says how many of the trials it is of, where predictions failed", async () => {
    const project = "local/failing"
    const [root, trace_id] = [randomUUID(), randomUUID()]
    const call = (name: string, more: object) => ({
      project_id: project,
      id: randomUUID(),
      trace_id,
      parent_id: root,
      attributes: {},
      summary: {},
      started_at: new Date().toISOString(),
      ended_at: new Date().toISOString(),
      op_name: `weave:///${project}/op/Evaluation.${name}:Qm3bXSUkTwX5vbXGIE5QYr2jZkJ8VqVNYkDrXcXwKv0`,
      ...more,
    })
    const trial = (question: string, output: object) =>
      call("predict_and_score", { inputs: { example: { question } }, output: { model_latency: 0.1, ...output } })
    await heddle.send("POST", `/v2/${project}/calls/complete`, {
      batch: [
        trial("one", { output: "1", scores: { exact: { correct: true } } }),
        trial("two", { output: null, scores: {} }),
        call("evaluate", { id: root, parent_id: null, inputs: { self: { name: "sums" } }, output: {} }),
      ],
    })
    const { page, close } = await signedIn(browser, heddle, `/${project}/evaluations`)
    await page.getByText("1 of 2").waitFor()
    await page.getByTitle(/1 of 2 trials have the value/).waitFor()
    await close()
  })

  test("one that is not there says so, and where the others are", async () => {
    const { page, close } = await open("/evaluations/nothing")
    await page.getByRole("heading", { name: "No such evaluation" }).waitFor()
    await page.getByRole("link", { name: "All evaluations" }).click()
    await rowOf(page, "Evaluations", "returns-regression").waitFor()
    await close()
  })
})

describe("runs compared", () => {
  const metrics = "Metrics of returns-agent v1 against returns-agent v0, paired by row"
  const cells = async (page: Page, metric: string) =>
    (await rowOf(page, metrics, metric).getByRole("cell").allInnerTexts()).map(plain)

  test("each metric has its change, interval, test and reading, over rows that both have", async () => {
    const visit = await open(compared(0, 1))
    const { page } = visit
    await page.getByText("39 paired").waitFor()
    // 10 rows are resolved now that were not, the first one is not any more; p is SciPy's of 10 in 11.
    expect(await cells(page, "resolved")).toEqual([
      "resolved",
      "51.3 %",
      "74.4 %",
      expect.stringMatching(/^\+23\.1 pts \[\+\d+\.\d, \+\d+\.\d\]$/),
      "",
      "10 better, 28 same, 1 worse",
      "0.012",
      "better",
    ])
    expect((await cells(page, "tokens an answer")).slice(5)).toEqual([
      "39 better, 0 same, 0 worse",
      "< 0.001",
      "better",
    ])
    expect((await cells(page, "latency")).at(-1)).toBe("no clear difference")
    await page.getByText("exact McNemar test").waitFor()
    expect(complaintsOf(visit)).toEqual([])
    await visit.close()
  })

  test("runs on two versions of a dataset: the page says so, and pairs rows by their content", async () => {
    const { page, close } = await open(compared(0, 1))
    await page
      .getByText("The baseline ran on returns-eval v0, the candidate on returns-eval v1: rows with the same content")
      .waitFor()
    await page.getByText("2 rows are only in the candidate.").waitFor()
    await close()
  })

  test("the row that lost most is first and open: what was asked, and the words that differ", async () => {
    const { page, close } = await open(compared(0, 1))
    const first = page.getByRole("grid", { name: "Rows of both runs" }).getByRole("row").nth(1)
    await first.getByText(/The jacket is fine/).waitFor()
    expect(await first.getAttribute("aria-current")).toBe("true")
    expect(plain(await first.innerText())).toMatch(/3\.000 1\.000 yes no$/)
    const answer = (name: string) => page.getByRole("region", { name: `Answer of ${name}` })
    await answer("returns-agent v0").getByText("judge.tone").waitFor()
    const gone = (await answer("returns-agent v0").locator("del").allInnerTexts()).map(plain)
    expect(gone.join("|")).toContain("free return label")
    const came = (await answer("returns-agent v1").locator("ins").allInnerTexts()).map(plain)
    expect(came.join("|")).toContain("Our policy asks for the original label")
    expect(await answer("returns-agent v1").innerText()).toContain("tone 1 of 5")
    await page.getByRole("button", { name: "Off" }).click()
    await expect.poll(() => page.locator("del, ins").count()).toBe(0)
    expect(search(page).get("diff")).toBe("off")
    await close()
  })

  test("rows are walked with the keyboard, and the open one is in the address", async () => {
    const { page, close } = await open(compared(0, 1))
    await page.getByRole("region", { name: "Answer of returns-agent v0" }).waitFor()
    await page.keyboard.press("j")
    await expect.poll(() => search(page).get("row")).toMatch(/^\w{20,}$/)
    const current = page.getByRole("grid", { name: "Rows of both runs" }).locator('[aria-current="true"]')
    await expect.poll(() => current.getAttribute("aria-rowindex")).toBe("3")
    await page.reload()
    await expect.poll(() => current.getAttribute("aria-rowindex")).toBe("3")
    await page.getByLabel("Order of rows").selectOption("Improvements first")
    await expect.poll(() => search(page).get("sort")).toBe("better")
    expect(search(page).has("row")).toBe(false)
    await close()
  })

  test("turning a metric's direction turns its reading, and swapping the runs turns the change", async () => {
    const { page, close } = await open(compared(0, 1))
    await page.getByText("39 paired").waitFor()
    await page.getByRole("button", { name: "resolved: higher is better, turn it" }).click()
    await expect.poll(async () => (await cells(page, "resolved")).at(-1)).toBe("worse")
    expect(search(page).get("turned")).toBe("score:resolved")
    await page.getByRole("button", { name: "Swap" }).click()
    await page.getByRole("heading", { name: "returns-agent v0 against returns-agent v1" }).waitFor()
    const swapped = rowOf(page, "Metrics of returns-agent v0 against returns-agent v1", "resolved")
    await expect.poll(async () => plain(await swapped.innerText())).toMatch(/−23\.1 pts .* better$/)
    await close()
  })

  test("a third run stands beside them, its trials as a spread; it can become the baseline", async () => {
    const { page, close } = await open(compared(0, 1))
    await page.getByText("39 paired").waitFor()
    await page.getByLabel("Add a run").selectOption({ index: 1 })
    await expect.poll(() => page.getByRole("listitem").count()).toBe(3)
    await page.getByRole("region", { name: "Answer of other-model v0" }).waitFor()
    await page.getByRole("group", { name: "Trial" }).getByRole("button", { name: "2" }).click()
    await page.getByRole("region", { name: "Answer of other-model v0" }).getByText("trial 2").waitFor()
    await page.getByRole("button", { name: /^Make other-model v0, .* the baseline$/ }).click()
    await page.getByRole("heading", { name: "returns-agent v0 against other-model v0" }).waitFor()
    await page.getByRole("grid", { name: "Rows of both runs" }).getByText("2/3").first().waitFor()
    await close()
  })

  test("the shown rows can be saved as a file", async () => {
    const { page, close } = await open(compared(0, 1))
    const coming = page.waitForEvent("download")
    await page.getByRole("button", { name: "CSV" }).click()
    const lines = (await readFile(await (await coming).path(), "utf8")).split("\r\n")
    expect(lines).toHaveLength(40)
    expect(lines[0]).toMatch(/^row_digest,judge\.tone baseline,judge\.tone candidate,resolved baseline,/)
    expect(lines[1]).toMatch(/^\w+,3,1,1,0,/)
    await close()
  })

  test("an answer leads to its trace", async () => {
    const { page, close } = await open(compared(0, 1))
    await page.getByRole("region", { name: "Answer of returns-agent v1" }).getByRole("link", { name: "trace" }).click()
    await page.waitForURL(`**/${filled.id}/traces/*?span=*`)
    await close()
  })

  test("a run that is not there is named, and one alone is offered a baseline", async () => {
    const { page, close } = await open(`/compare?runs=${filled.runs[1]},gone`)
    await page.getByText("No run of this project has the id gone").waitFor()
    await page.getByRole("link", { name: "Take other-model as the baseline" }).click()
    await page.getByRole("heading", { name: "returns-agent v1 against other-model v0" }).waitFor()
    await page.goto(`${heddle.url}/${filled.id}/compare`)
    await page.getByText("Choose two runs on the page of an evaluation.").waitFor()
    await close()
  })
})

test("a project without evaluations shows the lines that run one", async () => {
  await heddle.send("POST", "/v1/projects", { entity: "local", name: "bare" })
  const { page, close } = await signedIn(browser, heddle, "/local/bare/evaluations")
  await page.getByRole("region", { name: "Code for a first evaluation" }).getByText('"local/bare"').waitFor()
  await close()
})

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { page, close } = await signedIn(browser, heddle, null)
  const pages = [
    ["/evaluations", page.getByRole("link", { name: "returns-regression", exact: true })],
    ["/evaluations/returns-regression", page.getByText("returns-agent v0").first()],
    [compared(0, 1, 2), page.getByRole("region", { name: "Answer of returns-agent v0" })],
    [compared(0, 1), page.getByLabel("Add a run")],
  ] as const
  expect(await flawsOfPages(page, `${heddle.url}/${filled.id}`, pages)).toEqual({})
  await close()
}, 180_000)

// Last, since it leaves a run behind.
test("the open row of compared runs goes on with a run that goes on", async () => {
  const read = async (filter: object) => {
    const body = { project_id: filled.id, filter, sort_by: [{ field: "started_at", direction: "asc" }], limit: 1 }
    const { calls } = await heddle.send<{ calls: { op_name: string; inputs: object; output: object }[] }>(
      "POST",
      "/calls/query",
      body,
    )
    return calls[0]
  }
  const [ended, row] = [await read({ call_ids: [filled.runs[1]] }), await read({ parent_ids: [filled.runs[1]] })]
  const run = { project_id: filled.id, id: randomUUID(), trace_id: randomUUID(), attributes: {} }
  const start = { ...run, op_name: ended?.op_name, started_at: new Date().toISOString(), inputs: ended?.inputs }
  await heddle.send("POST", "/call/upsert_batch", { batch: [{ mode: "start", req: { start } }] })
  const answer = async () => {
    const time = new Date().toISOString()
    const payloads = { op_name: row?.op_name, inputs: row?.inputs, output: row?.output, summary: {} }
    const trial = { ...run, id: randomUUID(), parent_id: run.id, started_at: time, ended_at: time, ...payloads }
    await heddle.send("POST", `/v2/${filled.id}/calls/complete`, { batch: [trial] })
  }
  await answer()
  const { page, close } = await open(`/compare?runs=${filled.runs[0]},${run.id}`)
  await page.getByText("1 paired").waitFor()
  await page.getByRole("region", { name: "Answer of returns-agent v1" }).getByText("tone 1 of 5").waitFor()
  await answer()
  await page.getByRole("group", { name: "Trial" }).getByRole("button", { name: "2" }).click()
  await page.getByRole("region", { name: "Answer of returns-agent v1" }).getByText("tone 1 of 5").waitFor()
  await close()
})
