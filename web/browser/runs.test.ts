/** Runs of the wandb client: their list, and the page to which the link leads that the client prints. */
import { readFile } from "node:fs/promises"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { flawsOfPages } from "./support/axe.ts"
import { foreign, launchBrowser, type Visit } from "./support/browser.ts"
import { fillLabelTeam } from "./support/fill-queue.ts"
import { fillRun, fillRuns, peak } from "./support/fill-runs.ts"
import { heldBack } from "./support/held-back.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
let project: string
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  project = await fillRuns(heddle, "nights")
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (path: string) => signedIn(browser, heddle, path)
const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name })
const chart = (page: Page, name: string) => page.getByRole("region", { name, exact: true })
const drawn = (page: Page, name: string) => chart(page, name).locator('[data-drawn="true"]').waitFor()
const keys = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

/** Complaints without the 401 of the one request that asks who is signed in, before anybody is. */
const complaintsOf = ({ complaints }: Visit) => complaints.filter((text) => !text.includes("401"))

test("the list has what each run came to, the newest first, and leads to it", async () => {
  const visit = await open(`/${project}/models`)
  const { page } = visit
  await page.getByRole("navigation", { name: "Models and jobs" }).getByRole("link", { name: "Runs" }).click()
  await page.waitForURL(`**/${project}/runs`)
  await rowOf(page, "wide-layers-7").waitFor()
  const rows = await page.getByRole("grid", { name: "Runs" }).getByRole("row").allInnerTexts()
  expect(rows.slice(1).map((row) => row.trim().split(/\s+/).slice(0, 2))).toEqual([
    ["running", "longer-context"],
    ["finished", "wide-layers-7"],
    ["failed", "first-try"],
  ])
  const cells = await rowOf(page, "wide-layers-7").getByRole("gridcell").allInnerTexts()
  const heads = await page.getByRole("grid", { name: "Runs" }).getByRole("columnheader").allInnerTexts()
  const words = cells.map((text) => text.replaceAll(/\s+/g, " ").trim())
  expect(Object.fromEntries(heads.map((head, index) => [head.trim(), words[index]]))).toMatchObject({
    "Last step": "2999",
    Group: "sweep-a",
    "Job type": "train",
    Tags: "baseline wide",
    Notes: "Twice as wide as the first try.",
    epoch: "2",
    "train/loss": expect.stringMatching(/^0\.\d+$/),
    "train/accuracy": expect.stringMatching(/^0\.\d+$/),
  })
  await page.getByRole("link", { name: "wide-layers-7" }).click()
  await page.waitForURL(`**/${project}/runs/w1jkb71d`)
  await drawn(page, "train/loss")
  expect([foreign(visit.requests, heddle.url), complaintsOf(visit)]).toEqual([[], []])
  await visit.close()
})

test("a project with runs alone has an overview, which shows them", async () => {
  const { page, close } = await open(`/${project}`)
  const runs = page.getByRole("region", { name: "Runs" })
  await runs.getByText("train/loss").first().waitFor()
  expect(await runs.getByRole("listitem").getByRole("link").allInnerTexts()).toEqual([
    "longer-context",
    "wide-layers-7",
    "first-try",
  ])
  for (const text of await runs.getByRole("listitem").allInnerTexts())
    expect(text.replaceAll(/\s+/g, " ")).toMatch(/train\/accuracy [\d.]+ ?train\/loss [\d.]+ ?best/)
  await page.getByRole("link", { name: "How the first is made" }).waitFor()
  await runs.getByRole("link", { name: "wide-layers-7" }).click()
  await page.waitForURL(`**/${project}/runs/w1jkb71d`)
  await close()
})

/** Names of the listed runs, from the top. */
const listed = (page: Page) => columnOf(page, "Run")

test("runs are found by name, tag, group and job type, and sorted by what they came to", async () => {
  const { page, close } = await open(`/${project}/runs`)
  await rowOf(page, "wide-layers-7").getByRole("link", { name: "train", exact: true }).click()
  await expect.poll(() => listed(page)).toEqual(["longer-context", "wide-layers-7"])
  await page.getByRole("searchbox", { name: "Find a run by its name" }).fill("WIDE-")
  await expect.poll(() => listed(page)).toEqual(["wide-layers-7"])
  expect(keys(page)).toEqual({ q: "WIDE-", type: "train" })
  // What is ticked stays when it is not listed any more.
  await rowOf(page, "wide-layers-7").getByRole("checkbox").check()
  const all = page.getByRole("checkbox", { name: "Select all rows that are loaded" })
  expect(await all.isChecked()).toBe(true)
  await page.getByRole("searchbox", { name: "Find a run by its name" }).fill("longer")
  await expect.poll(() => listed(page)).toEqual(["longer-context"])
  expect(await all.isChecked()).toBe(false)
  expect(keys(page)).toEqual({ q: "longer", type: "train", runs: "w1jkb71d" })
  await page.getByRole("button", { name: "Leave out the job type train" }).click()
  await page.getByRole("searchbox", { name: "Find a run by its name" }).fill(".*")
  await page.getByRole("heading", { name: "No run fits" }).waitFor()
  await page.getByRole("button", { name: "Show all runs" }).click()
  const byLoss = page.getByRole("button", { name: "train/loss", exact: true })
  const losses = async () => (await columnOf(page, "train/loss")).map(Number)
  await byLoss.click()
  await page.waitForURL("**/runs?*sort=train/loss*")
  const falling = (await losses()).toSorted((a, b) => b - a)
  expect(falling).toHaveLength(3)
  await expect.poll(losses).toEqual(falling)
  await byLoss.click()
  await expect.poll(losses).toEqual(falling.toReversed())
  expect(keys(page)).toEqual({ sort: "train/loss", up: "1", runs: "w1jkb71d" })
  await close()
})

test("a run gets another name, tags and notes, and is deleted after a question", async () => {
  await fillRun(heddle, "tidied", { name: "oops", displayName: "oops", exitCode: 0, steps: 3 })
  await fillRun(heddle, "tidied", { name: "kept", displayName: "kept", exitCode: 0, steps: 3 })
  await fillRun(heddle, "tidied", { name: "spare", displayName: "spare", exitCode: 0, steps: 3 })
  const { page, close } = await open("/local/tidied/runs/oops")
  await page.getByRole("button", { name: "Edit", exact: true }).click()
  const edit = page.getByRole("dialog", { name: "Edit the run" })
  await edit.getByRole("textbox", { name: "Name" }).fill(" ")
  await edit.getByRole("button", { name: "Save" }).click()
  await edit.getByText("Give the run a name.").waitFor()
  await edit.getByRole("textbox", { name: "Name" }).fill("first try")
  await edit.getByRole("textbox", { name: "Tags" }).fill("slow, to repeat,slow")
  await edit.getByRole("textbox", { name: "Notes" }).fill("The rate was too high.")
  await page.keyboard.press("Control+a")
  await edit.getByRole("button", { name: "Save" }).click()
  await page.getByRole("heading", { name: "first try" }).waitFor()
  await page.reload()
  const about = page.getByRole("region", { name: "Run", exact: true })
  await about.getByText("The rate was too high.").waitFor()
  expect(await about.getByText(/^(slow|to repeat)$/).allInnerTexts()).toEqual(["slow", "to repeat"])
  await page.getByRole("button", { name: "Edit", exact: true }).click()
  await page.getByRole("button", { name: "Delete the run…" }).click()
  await page.getByRole("button", { name: "Delete the run", exact: true }).click()
  await page.waitForURL("**/local/tidied/runs")
  await expect.poll(() => listed(page)).toEqual(["spare", "kept"])
  // Several at once from the list; what is ticked and not seen stays.
  await rowOf(page, "kept").getByRole("checkbox").check()
  await rowOf(page, "spare").getByRole("checkbox").check()
  await page.getByRole("button", { name: "Delete 2 runs…" }).waitFor()
  await page.getByRole("searchbox", { name: "Find a run by its name" }).fill("spare")
  await page.getByRole("button", { name: "Delete 1 run…" }).click()
  await page.getByRole("dialog", { name: "Delete spare?" }).getByRole("button", { name: "Delete the run" }).click()
  await page.getByRole("button", { name: "Show all runs" }).click()
  await expect.poll(() => listed(page)).toEqual(["kept"])
  expect(keys(page)).toEqual({ runs: "kept" })
  await close()
})

test("a tag with a comma and notes from meanwhile stay when only the name changes, and a run that is gone already does not stop a deletion", async () => {
  const ask = async (query: string, input: object): Promise<{ data: { upsertBucket?: { bucket: { id: string } } } }> =>
    heddle.send("POST", "/graphql", { query, variables: { input } })
  await fillRun(heddle, "meanwhile", { name: "one", displayName: "one", exitCode: 0, steps: 3, tags: ["lr=1,2"] })
  await fillRun(heddle, "meanwhile", { name: "two", displayName: "two", exitCode: 0, steps: 3 })
  const upsertText = "mutation($input: UpsertBucketInput) { upsertBucket(input: $input) { bucket { id } } }"
  const { page, close } = await open("/local/meanwhile/runs/one")
  await page.getByRole("button", { name: "Edit", exact: true }).click()
  const edit = page.getByRole("dialog", { name: "Edit the run" })
  await ask(upsertText, { entityName: "local", modelName: "meanwhile", name: "one", notes: "Written by the program." })
  await edit.getByRole("textbox", { name: "Name" }).fill("uno")
  await edit.getByRole("button", { name: "Save" }).click()
  await page.getByRole("heading", { name: "uno" }).waitFor()
  await page.reload()
  await page.getByText("Written by the program.").waitFor()
  await page.getByRole("region", { name: "Run", exact: true }).getByText("lr=1,2", { exact: true }).waitFor()
  await page.goto(`${heddle.url}/local/meanwhile/runs`)
  await rowOf(page, "two").getByRole("checkbox").check()
  await rowOf(page, "uno").getByRole("checkbox").check()
  await page.getByRole("button", { name: "Delete 2 runs…" }).click()
  const named = { entityName: "local", modelName: "meanwhile", name: "two" }
  const { data } = await ask(upsertText, named)
  await ask("mutation($input: DeleteRunInput) { deleteRun(input: $input) { success } }", {
    id: data.upsertBucket?.bucket.id,
  })
  await page.getByRole("dialog").getByRole("button", { name: "Delete 2 runs" }).click()
  await page.getByRole("heading", { name: "No runs yet" }).waitFor()
  await close()
})

test("runs are found by their state, however they ended", async () => {
  const { page, close } = await open(`/${project}/runs`)
  await page.getByText("3 runs", { exact: true }).waitFor()
  const state = page.getByRole("combobox", { name: "State" })
  await state.selectOption("Running")
  await expect.poll(() => listed(page)).toEqual(["longer-context"])
  await page.getByText("1 run", { exact: true }).waitFor()
  await state.selectOption("Unsuccessful")
  await expect.poll(() => listed(page)).toEqual(["first-try"])
  expect(keys(page)).toEqual({ state: "unsuccessful" })
  await state.selectOption("Killed")
  await page.getByRole("heading", { name: "No run fits" }).waitFor()
  await page.getByRole("button", { name: "Show all runs" }).click()
  await expect.poll(() => listed(page)).toEqual(["longer-context", "wide-layers-7", "first-try"])
  expect(keys(page)).toEqual({})
  await close()
})

test("values of configs and summaries are columns by choice, which the address keeps; runs are sorted by them", async () => {
  const visit = await open(`/${project}/runs`)
  const { page } = visit
  await rowOf(page, "first-try").waitFor()
  const { free } = await heldBack(page, "**/graphql", (_method, body) => body.includes("config }"))
  await page.getByRole("button", { name: "Columns" }).click()
  const dialog = page.getByRole("dialog", { name: "Columns" })
  await dialog.getByText("Reading more values…").waitFor()
  free()
  await dialog.getByRole("checkbox", { name: "config.optimizer.name" }).check()
  await dialog.getByRole("checkbox", { name: "Took" }).check()
  for (const shown of ["Created", "Last step", "Group", "Job type", "Tags", "summary.epoch", "summary.lr", "Notes"]) {
    await dialog.getByRole("checkbox", { name: shown, exact: true }).uncheck()
  }
  await dialog.getByLabel("Any value").fill("lr")
  await dialog.getByRole("button", { name: "Add", exact: true }).click()
  await dialog.getByText("A path begins with config. or summary.").waitFor()
  await dialog.getByLabel("Any value").fill("config.lr")
  await dialog.getByRole("button", { name: "Add", exact: true }).click()
  await dialog.getByRole("button", { name: "Move config.lr forward" }).click()
  await dialog.getByRole("button", { name: "Done" }).click()
  const shown = keys(page)["cols"]?.split(",")
  expect(shown?.slice(0, 2)).toEqual(["state", "run"])
  expect(shown?.slice(-3)).toEqual(["config.optimizer.name", "config.lr", "took"])
  await page.goto(`${heddle.url}/${project}/runs?cols=run,took,config.lr,config.optimizer.name,config.seed,no-column`)
  await expect.poll(() => columnOf(page, "config.optimizer.name")).toEqual(["adamw", "adamw", "sgd"])
  expect(await columnOf(page, "config.seed")).toEqual(Array(3).fill("4611686018427387923"))
  expect((await columnOf(page, "Took")).map((text) => text.replaceAll(/\s/g, " "))).toEqual([
    "1 m 59 s",
    "49 m 59 s",
    "39.0 s",
  ])
  const byRate = page.getByRole("button", { name: "config.lr", exact: true })
  await byRate.click()
  await page.waitForURL("**/runs?*sort=config.lr*")
  await expect.poll(() => columnOf(page, "config.lr")).toEqual(["0.001", "0.0003", "0.0003"])
  await byRate.click()
  await expect.poll(() => columnOf(page, "config.lr")).toEqual(["0.0003", "0.0003", "0.001"])
  expect(complaintsOf(visit)).toEqual([])
  await visit.close()
})

test("a metric that is called as a column is another column", async () => {
  const named = { displayName: "odd", exitCode: 0, steps: 2 }
  await fillRun(heddle, "odd-names", { ...named, name: "o1" })
  const summary = { offset: 0, content: [JSON.stringify({ state: 7, created: 3, run: 5, _step: 1 })] }
  await heddle.send("POST", "/files/local/odd-names/o1/file_stream", { files: { "wandb-summary.json": summary } })
  const { page, close } = await open("/local/odd-names/runs?sort=summary.created")
  await rowOf(page, "odd").waitFor()
  expect(await columnOf(page, "State")).toEqual([expect.stringContaining("running")])
  expect([await columnOf(page, "state"), await columnOf(page, "run")]).toEqual([["7"], ["5"]])
  expect(await page.locator('[aria-sort="descending"]').allInnerTexts()).toEqual(["created"])
  await close()
})

/** Texts of a column of the list, from the top. */
async function columnOf(page: Page, head: string): Promise<string[]> {
  const grid = page.getByRole("grid", { name: "Runs" })
  const place = (await grid.getByRole("columnheader").allInnerTexts()).findIndex((text) => text.trim() === head)
  return page.locator(`[role="gridcell"]:nth-child(${place + 1})`).allInnerTexts()
}

const heads = (page: Page) => page.getByRole("list", { name: "Runs" }).getByRole("listitem")

test("ticked runs are compared: a line each on every chart, and what differs in their configs", async () => {
  const visit = await open(`/${project}/runs`)
  const { page } = visit
  await rowOf(page, "first-try").getByRole("checkbox").check()
  await rowOf(page, "wide-layers-7").getByRole("checkbox").check()
  await page.getByRole("link", { name: "Compare 2 runs" }).waitFor()
  await page.keyboard.press("c")
  await page.waitForURL(`**/${project}/run-comparison?runs=old1,w1jkb71d`)
  await page.getByRole("heading", { name: "2 runs compared" }).waitFor()
  await expect.poll(() => heads(page).getByRole("link").allInnerTexts()).toEqual(["first-try", "wide-layers-7"])
  await drawn(page, "train/loss")
  await page.getByRole("button", { name: "Show as a table: train/loss by step" }).click()
  const table = chart(page, "train/loss").getByRole("table")
  expect(await table.getByRole("columnheader").allInnerTexts()).toEqual([
    "x",
    "first-try",
    "wide-layers-7, lowest",
    "wide-layers-7, highest",
    "wide-layers-7",
  ])
  expect((await table.innerText()).split(/\s+/)).toContain(`${peak}`)

  const config = page.getByRole("table", { name: "Config of each run" })
  expect(await textsOf(config)).toEqual([
    ["Name", "first-try", "wide-layers-7"],
    ["lr", "0.001", "0.0003"],
    ["optimizer.name", '"sgd"', '"adamw"'],
  ])
  await page.getByRole("button", { name: /^Show all/ }).click()
  await config.getByRole("row", { name: /^seed/ }).waitFor()
  const summary = await textsOf(page.getByRole("table", { name: "Summary of each run" }))
  expect(summary).toContainEqual(["best", "0.125", "0.125"])
  expect(summary).toContainEqual(["diverged", '"NaN"', '"NaN"'])

  const added = await heldBack(page, "**/graphql", (_method, body) => body.includes("live1"))
  await page.getByRole("combobox", { name: "Add a run" }).selectOption({ label: "longer-context" })
  await added.came
  // While it is read, nobody knows whether it is there, and leaving another one out does not lose it.
  expect(await page.getByText("There is no run").count()).toBe(0)
  await page.getByRole("button", { name: "Leave out first-try" }).click()
  await added.release()
  await expect.poll(() => heads(page).getByRole("link").allInnerTexts()).toEqual(["wide-layers-7", "longer-context"])
  expect(keys(page)).toEqual({ runs: "w1jkb71d,live1", same: "1" })
  await page.getByRole("combobox", { name: "Add a run" }).selectOption({ label: "first-try" })
  await page.getByRole("heading", { name: "3 runs compared" }).waitFor()
  expect([foreign(visit.requests, heddle.url), complaintsOf(visit)]).toEqual([[], []])
  await visit.close()
})

const textsOf = async (table: ReturnType<Page["getByRole"]>) =>
  Promise.all(
    (await table.getByRole("row").all()).map(async (row) =>
      (await row.locator("th, td").allInnerTexts()).map((text) => text.trim()),
    ),
  )

test("compared runs stand over the time since each began; the cursor tells the value of every line by its name", async () => {
  const { page, close } = await open(`/${project}/run-comparison?runs=w1jkb71d,live1&smooth=0.5`)
  await drawn(page, "train/loss")
  await page.getByRole("button", { name: "Time", exact: true }).click()
  await page.getByRole("img", { name: "train/loss by time" }).waitFor()
  await drawn(page, "train/loss")
  await page.getByRole("button", { name: "Show as a table: train/loss by time" }).click()
  const first = chart(page, "train/loss").getByRole("rowheader").first()
  expect(await first.innerText()).toBe("0")
  await page.getByRole("button", { name: "Show as a table: train/loss by time" }).click()
  await drawn(page, "train/loss")
  const canvas = chart(page, "train/loss").locator(".u-over")
  await canvas.hover({ position: { x: 5, y: 40 } })
  const readout = chart(page, "train/loss").locator(".heddle-readout")
  await expect.poll(() => readout.innerText()).toMatch(/wide-layers-7 \d.*longer-context \d/s)
  expect(await readout.innerText()).not.toContain("lowest")
  await page.getByRole("button", { name: /^System/ }).click()
  await drawn(page, "gpu.0.temp")
  expect(keys(page)).toEqual({ runs: "w1jkb71d,live1", smooth: "0.5", x: "time", system: "1" })
  await close()
})

test("too many runs, and runs that are not there, are told in words; without any the page says where to choose", async () => {
  const { page, close } = await open(`/${project}/run-comparison`)
  await page.getByRole("heading", { name: "Choose runs to compare" }).waitFor()
  const many = Array.from({ length: 12 }, (_, index) => `none${index}`)
  await page.goto(`${heddle.url}/${project}/run-comparison?runs=old1,${many.join(",")}`)
  await page.getByText("At most 10 runs are compared").waitFor()
  await page.getByText("3 runs are left out").waitFor()
  await page.getByText("There is no run none0, none1").waitFor()
  await page.getByRole("heading", { name: "1 run compared" }).waitFor()
  await close()
})

test("a chart counts what it cannot draw and says where it was, and its newest value may be such a one", async () => {
  const named = { exitCode: 0, steps: 1 }
  for (const name of ["falls", "holds"]) {
    await fillRun(heddle, "diverged", { ...named, name, displayName: name })
    const values = ["1", "NaN", "0.5", "Infinity", "NaN", "0.25", ...(name === "falls" ? ["NaN"] : ["0.125"])]
    const rows = values.map((value, step) => `{"_step": ${step + 1}, "reward": ${value}, "never": NaN, "fine": 1}`)
    const files = { "wandb-history.jsonl": { offset: 1, content: rows } }
    await heddle.send("POST", `/files/local/diverged/${name}/file_stream`, { files })
  }
  const visit = await open("/local/diverged/runs/falls")
  const { page } = visit
  await drawn(page, "reward")
  await chart(page, "reward")
    .getByText("4 not drawn: NaN at step 2, Infinity at 4, NaN at 5, 7", { exact: true })
    .waitFor()
  expect(await chart(page, "reward").locator("header b").innerText()).toBe("NaN")
  await chart(page, "never").getByText("Not one finite number was logged.").waitFor()
  await chart(page, "never").getByText("7 not drawn: NaN at step 1, 2, 3, 4 and 3 more until 7").waitFor()
  expect(await chart(page, "fine").getByText("not drawn").count()).toBe(0)
  await page.goto(`${heddle.url}/local/diverged/run-comparison?runs=falls,holds`)
  await drawn(page, "reward")
  expect(await chart(page, "reward").getByText("not drawn").allInnerTexts()).toEqual([
    "falls: 4 not drawn: NaN at step 2, Infinity at 4, NaN at 5, 7",
    "holds: 3 not drawn: NaN at step 2, Infinity at 4, NaN at 5",
  ])
  expect(complaintsOf(visit)).toEqual([])
  await visit.close()
})

test("whoever may only look is offered neither to edit nor to delete runs", async () => {
  const team = await fillLabelTeam(heddle)
  for (const name of ["one", "two"]) {
    const input = { entityName: team.entity, modelName: team.project, name, displayName: name }
    const query = "mutation($input: UpsertBucketInput) { upsertBucket(input: $input) { bucket { id } } }"
    await heddle.send("POST", "/graphql", { query, variables: { input } })
  }
  const offers = async (as: Heddle) => {
    const { page, close } = await signedIn(browser, as, `/${team.id}/runs?runs=one,two`)
    const asked = page.waitForResponse("**/annotation_queues/work")
    await rowOf(page, "one").waitFor()
    await page.getByRole("link", { name: "Compare 2 runs" }).waitFor()
    await asked
    const [list, run] = [
      page.getByRole("button", { name: "Delete 2 runs…" }),
      page.getByRole("button", { name: "Edit" }),
    ]
    if (as === heddle) await list.waitFor()
    const found = [await list.count()]
    await page.getByRole("link", { name: "one", exact: true }).click()
    await page.getByRole("button", { name: /^Copy path/ }).waitFor()
    if (as === heddle) await run.waitFor()
    found.push(await run.count())
    await close()
    return found
  }
  expect(await offers(heddle)).toEqual([1, 1])
  for (const person of [team.as.vic, team.as.ann]) expect(await offers(person)).toEqual([0, 0])
})

test("a long list of runs goes on where its end is seen", async () => {
  const query = "mutation($input: UpsertBucketInput) { upsertBucket(input: $input) { bucket { id } } }"
  for (let number = 0; number < 120; number += 1) {
    const input = { entityName: "local", modelName: "many", name: `run-${number}`, displayName: `run-${number}` }
    await heddle.send("POST", "/graphql", { query, variables: { input } })
  }
  const { page, close } = await open("/local/many/runs")
  await page.getByText("120 runs", { exact: true }).waitFor()
  await rowOf(page, "run-119").waitFor()
  await page.getByRole("grid", { name: "Runs" }).hover()
  const last = rowOf(page, "run-0")
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 3000)
      return last.count()
    })
    .toBe(1)
  await close()
})

test("the overview of more models than one reading has lists none of them as a run", async () => {
  await fillRun(heddle, "crowded", { name: "alone", displayName: "alone", exitCode: 0, steps: 2 })
  for (let number = 0; number < 103; number += 1) {
    const name = `agent-${number}`
    await heddle.send("POST", "/v1/preview/models", { project: "crowded", name, base_model: "heddle/tiny" })
    const input = { entityName: "local", modelName: "crowded", name }
    const query = "mutation($input: UpsertBucketInput) { upsertBucket(input: $input) { bucket { id } } }"
    if (number < 3) await heddle.send("POST", "/graphql", { query, variables: { input } })
  }
  const { page, close } = await open("/local/crowded")
  const runs = page.getByRole("region", { name: "Runs" })
  await runs.getByRole("link", { name: "alone" }).waitFor()
  expect(await runs.getByRole("listitem").count()).toBe(1)
  await close()
})

test("a metric stands over the step metric that the program defined, until somebody wants its steps", async () => {
  const named = { displayName: "defined", exitCode: 0, steps: 90 }
  const definitions = [{ 1: "epoch" }, { 2: "val/*", 5: 1 }, { 1: "train/loss", 5: 4 }, { 1: "never" }]
  await fillRun(heddle, "defined", { ...named, name: "d1", settings: { definitions } })
  const { page, close } = await open("/local/defined/runs/d1")
  await page.getByRole("img", { name: "val/loss by epoch" }).waitFor()
  await page.getByRole("img", { name: "train/accuracy by step" }).waitFor()
  await chart(page, "train/loss").getByText("No row of it has a number never as well.").waitFor()
  await page.getByRole("button", { name: "Show as a table: val/loss by epoch" }).click()
  expect(await chart(page, "val/loss").getByRole("rowheader").allInnerTexts()).toEqual(["0", "1", "2"])
  await page.getByRole("button", { name: "Step", exact: true }).click()
  await page.getByRole("img", { name: "train/loss by step" }).waitFor()
  expect(keys(page)).toEqual({ x: "step" })
  await page.getByRole("button", { name: "As defined" }).click()
  await page.getByRole("img", { name: "val/loss by epoch" }).waitFor()
  expect(keys(page)).toEqual({})
  await close()
})

test("a run shows its curves with their peaks, its config and its summary with every digit", async () => {
  const visit = await open(`/${project}/runs/w1jkb71d`)
  const { page } = visit
  await page.getByRole("heading", { name: "wide-layers-7" }).waitFor()
  for (const name of ["epoch", "lr", "train/loss", "train/accuracy", "train/grad_norm", "val/loss"]) {
    await drawn(page, name)
  }
  expect(await page.getByRole("heading", { level: 2 }).allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringMatching(/^Metrics\s*2$/), expect.stringMatching(/^train\s*3$/)]),
  )
  await page.getByRole("button", { name: "Show as a table: train/loss by step" }).click()
  const table = chart(page, "train/loss").getByRole("table")
  await table.getByRole("columnheader", { name: "train/loss, highest" }).waitFor()
  // Of 500 points for 3000 steps, one stands for the peak.
  expect((await table.innerText()).split(/\s+/)).toContain(`${peak}`)
  const config = page.getByRole("region", { name: "Config" })
  await config.getByText("4611686018427387923").waitFor()
  expect(await config.innerText()).not.toContain("_wandb")
  await page.getByRole("region", { name: "Summary" }).getByText('"NaN"').waitFor()
  const about = page.getByRole("region", { name: "Run", exact: true })
  for (const fact of ["node-7", "CPython 3.12.4", "NVIDIA H100", "Twice as wide as the first try."]) {
    await about.getByText(fact).waitFor()
  }
  expect(complaintsOf(visit)).toEqual([])
  await visit.close()
})

test("axis, smoothing and what is unfolded are in the address", async () => {
  const { page, close } = await open(`/${project}/runs/w1jkb71d`)
  await drawn(page, "train/loss")
  await page.getByRole("button", { name: "Time", exact: true }).click()
  await page.getByLabel("Smoothing").fill("0.6")
  await page.getByRole("button", { name: /^System/ }).click()
  await drawn(page, "gpu.0.temp")
  expect(keys(page)).toEqual({ x: "time", smooth: "0.6", system: "1" })
  await page.reload()
  await drawn(page, "gpu.0.temp")
  await page.getByRole("img", { name: "train/loss by time" }).waitFor()
  await page.getByRole("button", { name: /^train/ }).click()
  await chart(page, "train/loss").waitFor({ state: "detached" })
  await close()
})

test("its files can be downloaded", async () => {
  const { page, close } = await open(`/${project}/runs/w1jkb71d`)
  const link = page.getByRole("table", { name: "Files of the run" }).getByRole("link", { name: "media/notes 1.txt" })
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()])
  expect(download.suggestedFilename()).toBe("notes 1.txt")
  expect(await readFile(await download.path(), "utf8")).toBe("a note")
  await close()
})

test("a run that goes on is followed until it ends", async () => {
  const { page, close } = await open(`/${project}/runs/live1`)
  await page.getByText("running").first().waitFor()
  await drawn(page, "train/loss")
  const content = [JSON.stringify({ _step: 120, "train/loss": 7.25, "late/metric": 3 })]
  const files = { "wandb-history.jsonl": { offset: 120, content } }
  await heddle.send("POST", `/files/${project}/live1/file_stream`, { files })
  await chart(page, "train/loss").getByText("7.25", { exact: true }).waitFor()
  await drawn(page, "late/metric")
  await heddle.send("POST", `/files/${project}/live1/file_stream`, { complete: true, exitcode: 3 })
  await page.getByText("failed").first().waitFor()
  await page.getByText(/exit code 3/).waitFor()
  await close()
})

test("a project without runs has the lines that start one; a run that is not there says so; the palette finds runs", async () => {
  const { page, close } = await open("/local/no-runs/runs")
  const code = page.getByRole("region", { name: "Code for a first run" })
  expect(await code.innerText()).toContain(`host="${heddle.url}"`)
  await page.goto(`${heddle.url}/${project}/runs/nobody`)
  await page.getByRole("heading", { name: "No such run" }).waitFor()
  await page.getByRole("button", { name: "Search or jump" }).click()
  await page.getByRole("searchbox", { name: "Search or jump" }).fill("first-tr")
  await page.getByRole("menuitem", { name: /first-try/ }).waitFor()
  await page.keyboard.press("Enter")
  await page.waitForURL(`**/${project}/runs/old1`)
  await close()
})

test("on a phone nothing of a row is cut off, and rows are not ticked", async () => {
  const { page, close } = await open(`/${project}/runs`)
  await page.setViewportSize({ width: 390, height: 844 })
  await rowOf(page, "first-try").waitFor()
  expect(await page.getByRole("grid", { name: "Runs" }).getByRole("checkbox").count()).toBe(0)
  const cut = await page
    .getByRole("grid", { name: "Runs" })
    .getByRole("row")
    .evaluateAll(([, ...rows]) => rows.filter((row) => row.scrollHeight > row.clientHeight).length)
  expect(cut).toBe(0)
  await close()
})

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { page, close } = await signedIn(browser, heddle, null)
  const pages = [
    ["/runs", page.getByRole("link", { name: "first-try" })],
    ["/runs/w1jkb71d?smooth=0.5&system=1", page.locator('[data-drawn="true"]').first()],
    ["/runs?state=finished&cols=run,config.lr,summary.train/loss", page.getByRole("link", { name: "wide-layers-7" })],
    ["/runs?tag=wide&group=sweep-a&type=train&runs=old1", page.getByRole("link", { name: "wide-layers-7" })],
    ["/run-comparison?runs=old1,w1jkb71d,live1&same=1&smooth=0.5", page.locator('[data-drawn="true"]').first()],
    ["/run-comparison", page.getByRole("heading", { name: "Choose runs to compare" })],
    ["/runs/nobody", page.getByRole("heading", { name: "No such run" })],
  ] as const
  expect(await flawsOfPages(page, `${heddle.url}/${project}`, pages)).toEqual({})
  await close()
}, 120_000)
