/** Artifacts of the wandb client: their list, the versions of one, and the runs that made and used them. */
import { readFile } from "node:fs/promises"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { flawsOfPages } from "./support/axe.ts"
import { foreign, launchBrowser } from "./support/browser.ts"
import { logArtifact, useArtifact } from "./support/fill-artifacts.ts"
import { fillRuns } from "./support/fill-runs.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
const project = "local/store"
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  await fillRuns(heddle, "store")
  const of = { project: "store", run: "old1" }
  const letters = {
    ...of,
    name: "letters",
    type: "dataset",
    aliases: ["latest"],
    files: { "rows/train.jsonl": "{}\n" },
  }
  await logArtifact(heddle, letters)
  await useArtifact(heddle, "store", "w1jkb71d", "letters:v0")
  for (const [step, aliases] of [
    [1, ["latest"]],
    [2, ["latest", "best"]],
  ] as const) {
    await logArtifact(heddle, {
      ...of,
      run: "w1jkb71d",
      name: "weights",
      type: "model",
      aliases,
      metadata: { step, loss: 0.5 / step },
      files: { "model.bin": `weights of step ${step}` },
      references: { "optimizer.bin": `s3://bucket/optimizer-${step}.bin` },
    })
  }
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (path: string) => signedIn(browser, heddle, `/${project}${path}`)
const cellsOf = async (page: Page, name: string) => {
  const rows = await page.getByRole("row").filter({ hasText: name }).first().getByRole("gridcell").allInnerTexts()
  return rows.map((text) => text.replaceAll(/\s+/g, " ").trim())
}

test("the list has every artifact with its newest version, and is narrowed to a type", async () => {
  const { page, complaints, close } = await open("/runs")
  await page.getByRole("navigation", { name: "Models and jobs" }).getByRole("link", { name: "Artifacts" }).click()
  await page.waitForURL(`**/${project}/artifacts`)
  await page.getByRole("link", { name: "weights" }).waitFor()
  const [name, type, newest, aliases, , files, size, versions] = await cellsOf(page, "weights")
  expect([name, type, newest, aliases, files, size, versions]).toEqual([
    "weights",
    "model",
    "v1",
    "best latest",
    "2",
    "22 B",
    "2",
  ])
  await page.getByRole("combobox", { name: "Type" }).selectOption("dataset")
  await page.getByRole("link", { name: "weights" }).waitFor({ state: "detached" })
  await page.getByRole("link", { name: "letters" }).waitFor()
  expect(new URL(page.url()).search).toBe("?type=dataset")
  await page.goto(`${heddle.url}/${project}/artifacts?type=nothing`)
  await page.getByRole("heading", { name: "No artifact fits" }).waitFor()
  expect(complaints.filter((text) => !text.includes("401"))).toEqual([])
  await close()
})

test("tables that runs logged are listed when one asks for them", async () => {
  await logArtifact(heddle, {
    project: "store",
    run: "old1",
    name: "run-old1-samples",
    type: "run_table",
    aliases: ["latest"],
    files: { "samples.table.json": '{"columns":["a"],"data":[[1]]}' },
  })
  const { page, close } = await open("/artifacts")
  await page.getByRole("link", { name: "weights" }).waitFor()
  expect(await page.getByRole("link", { name: "run-old1-samples" }).count()).toBe(0)
  const type = page.getByRole("combobox", { name: "Type" })
  expect(await type.locator("option").allInnerTexts()).toEqual([
    "All but tables of runs",
    "All types",
    "dataset",
    "model",
    "run_table",
  ])
  await type.selectOption("All types")
  await page.getByRole("link", { name: "run-old1-samples" }).waitFor()
  await page.getByRole("link", { name: "weights" }).waitFor()
  expect(new URL(page.url()).searchParams.get("type")).toBe("*")
  await type.selectOption("run_table")
  await page.getByRole("link", { name: "weights" }).waitFor({ state: "detached" })
  await page.getByRole("link", { name: "run-old1-samples" }).waitFor()
  await close()
})

test("the palette finds an artifact by a part of its name, and a run by its name and its id", async () => {
  const { page, close } = await open("/artifacts")
  const find = async (text: string) => {
    await page.getByRole("button", { name: "Search or jump" }).click()
    await page.getByRole("searchbox", { name: "Search or jump" }).fill(text)
  }
  await find("EIGHT")
  await page.getByRole("menuitem", { name: "weights" }).click()
  await page.waitForURL(`**/${project}/artifacts/weights`)
  await find("w1jkb71d")
  await page.getByRole("menuitem").filter({ hasText: "run" }).first().click()
  await page.waitForURL(`**/${project}/runs/w1jkb71d`)
  await close()
})

test("a version says what it is, which runs made and used it, and its files are saved under their names", async () => {
  const { page, requests, close } = await open("/artifacts/weights")
  const about = (version: string) => page.getByRole("region", { name: `About weights:${version}`, exact: true })
  await about("v1").getByText("0.25").waitFor()
  expect(await about("v1").getByText("best").count()).toBe(1)
  await about("v1").getByText("at s3://bucket/optimizer-2.bin").waitFor()
  expect(
    await about("v1")
      .getByRole("link", { name: /optimizer/ })
      .count(),
  ).toBe(0)
  await page.getByRole("table", { name: "Versions" }).getByRole("link", { name: "v0" }).click()
  await page.waitForURL(`**/artifacts/weights?v=v0`)
  const link = about("v0").getByRole("link", { name: "model.bin" })
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()])
  expect(download.suggestedFilename()).toBe("model.bin")
  expect(await readFile(await download.path(), "utf8")).toBe("weights of step 1")
  await about("v0").getByRole("link", { name: "w1jkb71d" }).click()
  await page.waitForURL(`**/${project}/runs/w1jkb71d`)
  const made = page.getByRole("table", { name: "Artifacts that the run made" })
  await made.getByRole("link", { name: "weights:v1" }).waitFor()
  await page
    .getByRole("table", { name: "Artifacts that the run used" })
    .getByRole("link", { name: "letters:v0" })
    .click()
  await page.getByRole("region", { name: "About letters:v0" }).getByRole("link", { name: "w1jkb71d" }).waitFor()
  expect(foreign(requests, heddle.url)).toEqual([])
  await close()
})

test("the link that the SDK prints, an alias, and what is not there", async () => {
  const { page, close } = await open("/artifacts/model/weights/v0")
  await page.waitForURL(`**/artifacts/weights?v=v0`)
  await page.goto(`${heddle.url}/${project}/artifacts/weights?v=best`)
  await page.getByRole("region", { name: "About weights:v1" }).waitFor()
  await page.goto(`${heddle.url}/${project}/artifacts/weights?v=v9`)
  await page.getByRole("heading", { name: "No such version" }).waitFor()
  await page.goto(`${heddle.url}/${project}/artifacts/nothing`)
  await page.getByRole("heading", { name: "No such artifact" }).waitFor()
  await page.goto(`${heddle.url}/local/empty/artifacts`)
  await page.getByRole("region", { name: "Code for a first artifact" }).waitFor()
  await close()
})

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { page, close } = await signedIn(browser, heddle, null)
  const pages = [
    ["/artifacts", page.getByRole("link", { name: "weights" })],
    ["/artifacts/weights?v=v0", page.getByRole("link", { name: "model.bin" })],
  ] as const
  expect(await flawsOfPages(page, `${heddle.url}/${project}`, pages)).toEqual({})
  await close()
})
