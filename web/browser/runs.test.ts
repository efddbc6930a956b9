/** Runs of the wandb client: their list, and the page to which the link leads that the client prints. */
import { readFile } from "node:fs/promises"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { flawsOfPages } from "./support/axe.ts"
import { foreign, launchBrowser, type Visit } from "./support/browser.ts"
import { fillRuns, peak } from "./support/fill-runs.ts"
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
  const rows = await page.getByRole("table", { name: "Runs" }).getByRole("row").allInnerTexts()
  expect(rows.slice(1).map((row) => row.split(/\s+/).slice(0, 2))).toEqual([
    ["running", "longer-context"],
    ["finished", "wide-layers-7"],
    ["failed", "first-try"],
  ])
  const cells = await rowOf(page, "wide-layers-7").getByRole("cell").allInnerTexts()
  expect(cells.slice(1, 4).map((text) => text.replaceAll(/\s+/g, " ").trim())).toEqual([
    "wide-layers-7 sweep-a · train baseline wide",
    expect.stringMatching(/^epoch 2 train\/loss 0\.\d+ train\/accuracy 0\.\d+$/),
    "2999",
  ])
  await page.getByRole("link", { name: "wide-layers-7" }).click()
  await page.waitForURL(`**/${project}/runs/w1jkb71d`)
  await drawn(page, "train/loss")
  expect([foreign(visit.requests, heddle.url), complaintsOf(visit)]).toEqual([[], []])
  await visit.close()
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

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { page, close } = await open(`/${project}/runs`)
  const pages = [
    ["/runs", page.getByRole("link", { name: "first-try" })],
    ["/runs/w1jkb71d?smooth=0.5&system=1", page.locator('[data-drawn="true"]').first()],
    ["/runs/nobody", page.getByRole("heading", { name: "No such run" })],
  ] as const
  expect(await flawsOfPages(page, `${heddle.url}/${project}`, pages)).toEqual({})
  await close()
}, 120_000)
