/** Objects and datasets: their versions and differences, aliases and tags, import and export of files. */
import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import type { Browser, Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { flawsOfPages } from "./support/axe.ts"
import { foreign, launchBrowser } from "./support/browser.ts"
import { fillObjects, type FilledObjects } from "./support/fill-objects.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
let filled: FilledObjects
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  filled = await fillObjects(heddle, "local/support")
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (path: string, options = {}) => signedIn(browser, heddle, `/local/support${path}`, options)
const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name })
const keys = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
/** The text of each element, as one line. */
const textsOf = async (found: Locator) => (await found.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "))
const versions = (page: Page) => page.getByRole("navigation", { name: "Versions" })

describe("the list", () => {
  test("has every kind with its count, and each name with its newest version", async () => {
    const visit = await open("/objects")
    const { page } = visit
    await rowOf(page, "returns-eval").waitFor()
    const tabs = page.getByRole("navigation", { name: "Kinds of objects" }).getByRole("link")
    expect(await textsOf(tabs)).toEqual([
      "All 7",
      "Datasets 2",
      "Prompts 1",
      "Models 1",
      "Evaluations 1",
      "Ops 1",
      "Values 1",
    ])
    expect(await textsOf(rowOf(page, "returns-eval").getByRole("gridcell"))).toEqual([
      "returns-eval",
      "dataset",
      "v2",
      expect.stringMatching(/\d/),
      "you",
      "production reviewed",
    ])
    await page.getByRole("searchbox", { name: "Find by name" }).fill("tone")
    await expect.poll(() => keys(page)).toEqual({ q: "tone" })
    await expect.poll(() => rowOf(page, "returns-eval").count()).toBe(0)
    await rowOf(page, "tone-prompt").waitFor()
    await page.getByRole("searchbox", { name: "Find by name" }).fill("nobody")
    await page.getByRole("heading", { name: "No name matches" }).waitFor()
    expect(foreign(visit.requests, heddle.url)).toEqual([])
    expect(visit.complaints.filter((text) => !text.includes("401"))).toEqual([])
    await visit.close()
  })

  test("letters stay where they are typed in the name to find", async () => {
    const { page, close } = await open("/objects")
    const find = page.getByRole("searchbox", { name: "Find by name" })
    await find.fill("tprompt")
    for (const key of ["Home", "ArrowRight"]) await find.press(key)
    await find.pressSequentially("one-")
    expect(await find.inputValue()).toBe("tone-prompt")
    await expect.poll(() => keys(page)).toEqual({ q: "tone-prompt" })
    await rowOf(page, "tone-prompt").waitFor()
    await close()
  })

  test("has the number of rows of each dataset, and a link to its newest version", async () => {
    const { page, close } = await open("/objects")
    await page.getByRole("link", { name: "Datasets 2" }).click()
    await page.waitForURL("**/objects/datasets")
    await expect.poll(() => rowOf(page, "returns-eval").getByRole("gridcell").nth(2).innerText()).toBe("6")
    await expect.poll(() => rowOf(page, "long-list").getByRole("gridcell").nth(2).innerText()).toMatch(/^1.?200$/)
    expect(await rowOf(page, "tone-prompt").count()).toBe(0)
    await page.getByRole("link", { name: "returns-eval" }).click()
    await page.waitForURL("**/objects/returns-eval/versions/v2")
    await close()
  })

  test("a kind without objects, and a project without any, show how to publish", async () => {
    const { page, close } = await open("/objects/scorers")
    await page.getByRole("heading", { name: "No scorers yet" }).waitFor()
    await heddle.send("POST", "/v1/projects", { entity: "local", name: "bare" })
    await page.goto(`${heddle.url}/local/bare/objects`)
    await page.getByRole("heading", { name: "Nothing is published yet" }).waitFor()
    await page
      .getByRole("region", { name: "Code that publishes a dataset" })
      .getByText('weave.init("local/bare")')
      .waitFor()
    await close()
  })
})

describe("a dataset", () => {
  test("versions say who made them, when, and how many rows changed", async () => {
    const { page, close } = await open("/objects/returns-eval/versions/latest")
    // What changed is told of each version by itself.
    await expect
      .poll(() => textsOf(versions(page).getByRole("link")))
      .toEqual([
        expect.stringMatching(/^v2 latest production reviewed \+2 2 added .1 1 removed ~2 2 changed you, .*6 rows$/),
        expect.stringMatching(/^v1 nightly \+2 2 added you, .*5 rows$/),
        expect.stringMatching(/^v0 you, .*3 rows$/),
      ])
    await close()
  })

  test("shows the differences from the version before, row by row and cell by cell", async () => {
    const { page, close } = await open("/objects/returns-eval/versions/v2")
    const table = page.getByRole("table", { name: "Rows that differ between v1 and v2" })
    await table.waitFor()
    await page.getByText("5 of 6 rows differ").waitFor()
    const rows = table.locator("tbody tr")
    expect(await textsOf(rows.locator("td:first-child"))).toEqual([
      "~ changed",
      "~ changed",
      "+ added",
      "+ added",
      "\u2212 removed",
    ])
    const zip = rows.filter({ hasText: "The zip broke" })
    expect(await zip.locator("del").allInnerTexts()).toEqual(["Refuse", "2.1"])
    expect(await zip.locator("ins").allInnerTexts()).toEqual(["Accept as a defect", "6.1"])
    await rows.last().locator("del").getByText("How do I reset my password?").waitFor()

    await page.getByLabel("against").selectOption("v0")
    await expect.poll(() => keys(page)).toEqual({ against: "v0", show: "changes" })
    await page.getByRole("table", { name: "Rows that differ between v0 and v2" }).waitFor()
    await page.reload()
    await page.getByRole("table", { name: "Rows that differ between v0 and v2" }).waitFor()
    await close()
  })

  test("all rows, paged from the server, sorted by it, and one as a whole", async () => {
    const { page, close, requests } = await open("/objects/long-list/versions/v0")
    const grid = page.getByRole("grid", { name: "Rows of the dataset" })
    await grid.getByText("question 0", { exact: true }).waitFor()
    expect(await grid.getAttribute("aria-rowcount")).toBe("1201")
    expect(await textsOf(grid.getByRole("columnheader"))).toEqual(["Row", "question text", "number number"])
    const asked = () => requests.filter((url) => url.endsWith("/table/query_stream")).length
    const before = asked()
    await grid
      .locator("div")
      .first()
      .evaluate((box) => box.scrollTo(0, 1_000_000))
    await grid.getByText("question 1199", { exact: true }).waitFor()
    expect(asked()).toBeGreaterThan(before)
    expect(await grid.getByText("question 600", { exact: true }).count()).toBe(0)
    await grid.getByRole("button", { name: "number" }).click()
    await grid.getByText("question 7", { exact: true }).first().waitFor()
    await expect.poll(() => keys(page)).toEqual({ sort: "-number" })
    await grid.getByRole("row").nth(1).click()
    await page
      .getByRole("region", { name: /^Row 1?.?\d+$/ })
      .getByText("12345678901234567890")
      .waitFor()
    expect(keys(page)).toEqual({ sort: "-number", row: "0" })
    await page.getByRole("button", { name: "Close the row" }).click()
    await expect.poll(() => keys(page)).toEqual({ sort: "-number" })
    await close()
  })

  test("leaves as a file in three formats", async () => {
    const { page, close } = await open("/objects/returns-eval/versions/v0")
    await page.getByRole("button", { name: "Download" }).click()
    const coming = page.waitForEvent("download")
    await page.getByRole("menuitem", { name: "CSV" }).click()
    const file = await coming
    expect(file.suggestedFilename()).toBe("returns-eval-v0.csv")
    expect((await readFile(await file.path(), "utf8")).split("\n").slice(0, 2)).toEqual([
      "ticket,expected,section",
      "The zip broke on the first day.,Refuse: 30 days are over.,2.1",
    ])
    await page.getByRole("button", { name: "Download" }).click()
    const lines = page.waitForEvent("download")
    await page.getByRole("menuitem", { name: "JSON Lines" }).click()
    expect((await readFile(await (await lines).path(), "utf8")).trim().split("\n")).toHaveLength(3)
    await close()
  })

  test("says who uses it", async () => {
    const { page, close } = await open("/objects/returns-eval/versions/v2")
    const used = page.getByRole("region", { name: "Used by v2" })
    await used.getByRole("link", { name: "returns-regression:v0" }).waitFor()
    await used.getByRole("link", { name: "predict" }).click()
    await page.waitForURL(`**/traces/${filled.traceId}?span=${filled.callId}`)
    await page.goto(`${heddle.url}/local/support/objects/returns-eval/versions/v0`)
    await page.getByText("No evaluation names it and no call took it in.").waitFor()
    await close()
  })
})

describe("import", () => {
  const csv = (text: string) => ({ name: "returns-eval.csv", mimeType: "text/csv", buffer: Buffer.from(text) })

  test("a file becomes the next version, after its columns were shown", async () => {
    const { page, close } = await open("/objects/datasets")
    await page.getByRole("button", { name: "Import" }).click()
    const dialog = page.getByRole("dialog", { name: "Import a dataset" })
    const name = `from-a-file-${Date.now()}`
    await dialog.getByLabel("File").setInputFiles(csv('ticket,section\n"Boots, worn",6.1\nCustoms,5.3\n'))
    const columns = dialog.getByRole("table", { name: "Columns of the file" }).locator("tbody tr")
    await columns.first().waitFor()
    expect(await textsOf(columns)).toEqual(['ticket text "Boots, worn"', "section number 6.1"])
    expect(await dialog.getByLabel("Name").inputValue()).toBe("returns-eval")
    await dialog.getByLabel("Name").fill(name)
    await dialog.getByRole("button", { name: `Import as ${name}` }).click()
    await page.waitForURL(`**/objects/${name}/versions/v0`)
    await page.getByRole("grid", { name: "Rows of the dataset" }).getByText("Boots, worn").waitFor()
    await heddle.send("POST", "/obj/delete", { project_id: "local/support", object_id: name })
    await close()
  })

  test("a file that cannot be read says where, and is not sent", async () => {
    const { page, close } = await open("/objects/datasets")
    await page.getByRole("button", { name: "Import" }).click()
    const dialog = page.getByRole("dialog", { name: "Import a dataset" })
    await dialog.getByLabel("File").setInputFiles(csv("ticket,section\nonly one\n"))
    await dialog.getByText("row 1 has 1 cell, and the first line names 2 columns.").waitFor()
    expect(await dialog.getByRole("button", { name: "Import as returns-eval" }).isDisabled()).toBe(true)
    await close()
  })
})

describe("labels", () => {
  test("an alias moves after a question that says from where to where", async () => {
    const { page, close } = await open("/objects/returns-eval/versions/v2")
    await page.getByRole("button", { name: "Alias…" }).click()
    const dialog = page.getByRole("dialog", { name: "Which alias names returns-eval v2?" })
    await dialog.getByLabel("Alias").fill("nightly")
    await dialog.getByText("Move it from v1 to v2?").waitFor()
    await dialog.getByRole("button", { name: "Move nightly from v1 to v2" }).click()
    await dialog.waitFor({ state: "detached" })
    await page.getByRole("group", { name: "Labels of this version" }).getByText("nightly").waitFor()
    await expect.poll(() => versions(page).getByRole("link").nth(1).innerText()).not.toContain("nightly")
    const { obj } = await heddle.send<{ obj: { version_index: number } }>("POST", "/obj/read", {
      project_id: "local/support",
      object_id: "returns-eval",
      digest: "nightly",
    })
    expect(obj.version_index).toBe(2)

    await page.getByRole("button", { name: "Take the alias nightly off" }).click()
    await page.getByText("returns-eval:nightly names no version from then on").waitFor()
    await page.getByRole("button", { name: "Take nightly off v2" }).click()
    await expect.poll(() => page.getByRole("button", { name: "Take the alias nightly off" }).count()).toBe(0)
    await close()
  })

  test("a name that the server refuses says why, in its place", async () => {
    const { page, close } = await open("/objects/returns-eval/versions/v1")
    await page.getByRole("button", { name: "Alias…" }).click()
    await page.getByLabel("Alias", { exact: true }).fill("v7")
    await page.getByRole("button", { name: "Let it name v1" }).click()
    await page.getByRole("alert").getByText("name a version by its index").waitFor()
    await close()
  })

  test("tags come and go", async () => {
    const { page, close } = await open("/objects/returns-eval/versions/v0")
    await page.getByRole("button", { name: "Tag…" }).click()
    await page.getByLabel("Tag", { exact: true }).fill("first try")
    await page.getByRole("button", { name: "Add the tag" }).click()
    await page.getByRole("button", { name: "Take the tag first try off" }).click()
    await expect.poll(() => page.getByRole("button", { name: "Take the tag first try off" }).count()).toBe(0)
    await close()
  })
})

describe("other objects", () => {
  test("a prompt: its words, and what differs from another version by its place in the value", async () => {
    const { page, close } = await open("/objects/tone-prompt/versions/v1")
    await page.getByText("Answer briefly and kindly.", { exact: true }).first().waitFor()
    await page.getByRole("button", { name: "Changes" }).click()
    const row = page.getByRole("table", { name: "What differs from v0" }).getByRole("row", { name: /^content/ })
    await row.waitFor()
    expect([await row.locator("ins").allTextContents(), await row.locator("del").allTextContents()]).toEqual([
      [" and kindly"],
      [],
    ])
    await expect.poll(() => keys(page)).toEqual({ show: "changes" })
    await close()
  })

  test("refs in a value are links to what they name", async () => {
    const { page, close } = await open("/objects/returns-regression/versions/v0")
    const refs = page.getByRole("region", { name: "Refers to" })
    await refs.getByRole("link", { name: /^returns-eval:/ }).click()
    await page.waitForURL(`**/objects/returns-eval/versions/${encodeURIComponent(filled.datasetDigest)}`)
    await page.getByRole("table", { name: "Rows that differ between v1 and v2" }).waitFor()
    await close()
  })

  test("an op has its code", async () => {
    const { page, close } = await open("/objects/ops")
    await page.getByRole("link", { name: "issue_refund" }).click()
    await page.getByRole("region", { name: "Code of issue_refund" }).getByText("def issue_refund").waitFor()
    await close()
  })

  test("a link of the SDK leads to the version", async () => {
    const { page, close } = await open("/objects")
    await page.goto(`${heddle.url}/local/support/weave/objects/tone-prompt/versions/v0`)
    await page.waitForURL("**/local/support/objects/tone-prompt/versions/v0")
    await page.getByRole("heading", { name: "tone-prompt" }).waitFor()
    await page.goto(`${heddle.url}/local/support/weave/ops/issue_refund/versions/v0`)
    await page.getByRole("region", { name: "Code of issue_refund" }).getByText("def issue_refund").waitFor()
    await close()
  })

  test("links of the SDK to leaderboards and saved views lead to the newest version of the object", async () => {
    const { page, close } = await open("/objects")
    for (const path of ["leaderboards/tone-prompt", "traces?view=tone-prompt", "evaluations?view=tone-prompt"]) {
      await page.goto(`${heddle.url}/local/support/weave/${path}`)
      await page.waitForURL("**/local/support/objects/tone-prompt/versions/latest")
      await page.getByRole("heading", { name: "tone-prompt" }).waitFor()
    }
    await close()
  })

  test("a version that is not there, and one that was deleted, say so and where the newest is", async () => {
    const { page, close } = await open("/objects/tone-prompt/versions/v77")
    await page.getByRole("heading", { name: "No such version" }).waitFor()
    await page.getByRole("link", { name: "The newest version, v1" }).waitFor()
    await page.goto(`${heddle.url}/local/support/objects/retired/versions/v0`)
    await page.getByRole("heading", { name: "This version was deleted" }).waitFor()
    await page.getByText(/retired:v0 was deleted at/).waitFor()
    await close()
  })
})

describe("a leaderboard", () => {
  const board = "local/boards"
  const exam = (version: string) => `weave:///${board}/object/exam:${version}`
  /** As the SDK publishes one. */
  const publish = (columns: object[]) =>
    heddle.send("POST", "/obj/create", {
      obj: {
        project_id: board,
        object_id: "best-agent",
        val: { name: "best-agent", description: "", columns },
        builtin_object_class: "Leaderboard",
      },
    })
  const column = (evaluation: string, scorer_name: string, summary_metric_path: string, should_minimize = false) => ({
    evaluation_object_ref: evaluation,
    scorer_name,
    summary_metric_path,
    should_minimize,
  })

  beforeAll(async () => {
    const { model_ref: older } = await made<{ model_ref: string }>("models", {
      name: "agent",
      source_code: "step = 1\n",
    })
    const { model_ref: newer } = await made<{ model_ref: string }>("models", {
      name: "agent",
      source_code: "step = 2\n",
    })
    await publish([column(exam("v1"), "exact", "true_fraction"), column(exam("v1"), "model_latency", "mean", true)])
    const ran = (minutes: number, model: string, share: number | null, mean: number, self = exam("v1")) => ({
      project_id: board,
      id: randomUUID(),
      trace_id: randomUUID(),
      op_name: `weave:///${board}/op/Evaluation.evaluate:x`,
      started_at: new Date(Date.now() - minutes * 60_000).toISOString(),
      ended_at: new Date(Date.now() - minutes * 60_000 + 9000).toISOString(),
      attributes: {},
      inputs: { self, model },
      output: share === null ? null : { exact: { true_fraction: share, true_count: 7 }, model_latency: { mean } },
      summary: {},
    })
    const batch = [
      ran(50, older, 0.99, 1, exam("v0")),
      ran(40, older, 0.9, 9),
      ran(30, older, 0.5, 1.25),
      ran(20, newer, 0.75, 2.5),
      ran(10, newer, null, 0),
      ran(5, "a plain name", 0.6, 3),
    ]
    await heddle.send("POST", `/v2/${board}/calls/complete`, { batch })
  })
  const made = <Answer>(family: string, body: object) => heddle.send<Answer>("POST", `/v2/${board}/${family}`, body)

  const cells = async (page: Page) =>
    Promise.all(
      (await page.getByRole("grid", { name: "Leaderboard" }).getByRole("row").all())
        .slice(1)
        .map((row) => textsOf(row.getByRole("gridcell"))),
    )

  test("ranks models by the newest runs of its evaluations, at the link that the SDK prints", async () => {
    const visit = await signedIn(browser, heddle, `/${board}/weave/leaderboards/best-agent`)
    const { page } = visit
    await page.waitForURL("**/objects/best-agent/versions/latest")
    const ranked = [
      ["agent v1", "75.0 %", "2.500"],
      ["a plain name", "60.0 %", "3.000"],
      ["agent v0", "50.0 %", "1.250"],
    ]
    const told = async () => (await cells(page)).map((row) => row.map((text) => text.replaceAll("\u202f", " ").trim()))
    await expect.poll(told).toEqual(ranked)
    const grid = page.getByRole("grid", { name: "Leaderboard" })
    expect(await textsOf(grid.getByRole("link").filter({ has: page.getByRole("img", { name: "best" }) }))).toEqual([
      expect.stringContaining("75.0"),
      expect.stringContaining("1.250"),
    ])
    await grid.getByRole("button", { name: /model_latency\.mean/ }).click()
    await expect.poll(() => keys(page)).toEqual({ sort: "-model_latency.mean" })
    await expect.poll(told).toEqual([ranked[1], ranked[0], ranked[2]])
    await page.getByRole("tree", { name: "Value" }).waitFor()
    expect(await flawsOfPages(page, `${heddle.url}/${board}`, [["/objects/best-agent/versions/v0", grid]])).toEqual({})
    await page.goto(`${heddle.url}/${board}/objects/best-agent/versions/v0`)
    await grid.getByRole("link", { name: /75/ }).click()
    await page.waitForURL("**/traces/*")
    await visit.close()
  })

  test("says which runs it waits for", async () => {
    await publish([column(exam("v7"), "exact", "true_fraction")])
    const { page, close } = await signedIn(browser, heddle, `/${board}/objects/best-agent/versions/latest`)
    await page.getByText("Runs of exam appear here").waitFor()
    await page.goto(`${heddle.url}/${board}/objects/leaderboards`)
    await rowOf(page, "best-agent").waitFor()
    await close()
  })
})

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { page, close } = await signedIn(browser, heddle, null)
  const pages = [
    ["/objects", rowOf(page, "returns-eval")],
    ["/objects/scorers", page.getByRole("heading", { name: "No scorers yet" })],
    ["/objects/returns-eval/versions/v2", page.getByRole("table", { name: "Rows that differ between v1 and v2" })],
    ["/objects/returns-eval/versions/v2?show=all&row=1", page.getByRole("tree", { name: "The row" })],
    ["/objects/tone-prompt/versions/v1?show=changes", page.getByRole("table", { name: "What differs from v0" })],
    ["/objects/tone-prompt/versions/v1", page.getByRole("tree", { name: "Value" })],
  ] as const
  expect(await flawsOfPages(page, `${heddle.url}/local/support`, pages)).toEqual({})
  await close()
}, 180_000)
