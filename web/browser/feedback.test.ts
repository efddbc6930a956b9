/** Everything that was said in a project, in one list: evaluation-store-objects 2.4. */
import { randomUUID } from "node:crypto"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { flawsOfPages } from "./support/axe.ts"
import { foreign, launchBrowser } from "./support/browser.ts"
import { fillLabelTeam, type LabelTeam } from "./support/fill-queue.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
let team: LabelTeam
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  team = await fillLabelTeam(heddle)
  const calls = await sendCalls(team.id, 130)
  const give = (as: Heddle, call: string, feedback_type: string, payload: object, more: object = {}) => {
    const weave_ref = `weave:///${team.id}/call/${call}`
    return as.send("POST", "/feedback/create", { project_id: team.id, weave_ref, feedback_type, payload, ...more })
  }
  const runnable_ref = `weave:///${team.id}/op/exact:0123456789abcdefghijklmnopqrstuvwxyzABCDEFG`
  const batch = calls.map((call, index) => ({
    project_id: team.id,
    weave_ref: `weave:///${team.id}/call/${call}`,
    feedback_type: "wandb.runnable.exact",
    payload: { output: { right: index % 2 === 0, length: index } },
    runnable_ref,
    call_ref: `weave:///${team.id}/call/${call}`,
  }))
  await heddle.send("POST", "/feedback/batch/create", { batch })
  await give(team.as.ann, calls[0] ?? "", "wandb.note.1", { note: "The refund is named twice." })
  await give(team.as.ann, calls[1] ?? "", "wandb.reaction.1", { emoji: "👎" })
  await give(team.as.ben, calls[2] ?? "", "wandb.annotation.tone", { value: "kind" }, { annotation_ref: team.tone })
  await give(heddle, calls[3] ?? "", "latency-budget", { value: 3 })
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

async function sendCalls(project_id: string, count: number): Promise<string[]> {
  const batch = Array.from({ length: count }, (_, index) => ({
    project_id,
    id: randomUUID(),
    trace_id: randomUUID(),
    op_name: `answer_${index}`,
    started_at: new Date(Date.now() - 60_000 - index).toISOString(),
    ended_at: new Date(Date.now() - 50_000).toISOString(),
    attributes: {},
    inputs: { question: "Hello?" },
    output: "answered",
    summary: {},
  }))
  await heddle.send("POST", `/v2/${project_id}/calls/complete`, { batch })
  return batch.map(({ id }) => id)
}

const open = (as: Heddle, search = "") => signedIn(browser, as, `/${team.id}/traces?lens=feedback${search}`)
const grid = (page: Page) => page.getByRole("grid", { name: "Feedback" })
const keys = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

/** Of the rows that are drawn, from the top: kind, name, value, by and call. */
async function listed(page: Page, most = 4): Promise<string[][]> {
  const rows = (await grid(page).getByRole("row").all()).slice(1, most + 1)
  return Promise.all(rows.map(async (row) => (await row.getByRole("gridcell").allInnerTexts()).slice(1)))
}

test("the list has every kind, the newest first, and leads to what was said of the call", async () => {
  const visit = await signedIn(browser, heddle, `/${team.id}/traces`)
  const { page } = visit
  await page.getByRole("group", { name: "What is listed" }).getByRole("button", { name: "Feedback" }).click()
  await page.getByText("134 in all").waitFor()
  await grid(page).getByRole("link", { name: "answer_0", exact: true }).waitFor()
  expect(await listed(page)).toEqual([
    ["feedback", "latency-budget", "3", "you", "answer_3"],
    ["label", "tone", "kind", "ben", "answer_2"],
    ["reaction", "", "👎", "ann", "answer_1"],
    ["note", "", "The refund is named twice.", "ann", "answer_0"],
  ])
  await grid(page).getByRole("link", { name: "answer_0", exact: true }).click()
  await page.getByRole("cell", { name: "The refund is named twice." }).waitFor()
  await page.goBack()
  await page.getByText("134 in all").waitFor()
  await page.keyboard.press("j")
  await page.keyboard.press("j")
  await page.keyboard.press("Enter")
  await page.waitForURL("**/traces/*tab=feedback*")
  await page.getByRole("cell", { name: "kind", exact: true }).waitFor()
  expect([foreign(visit.requests, heddle.url), visit.complaints]).toEqual([[], []])
  await visit.close()
})

test("it is found by kind, person, name and note, and the address holds what was asked for", async () => {
  const { page, close } = await open(team.as.ann)
  await page.getByText("134 in all").waitFor()
  await page.getByLabel("Kind", { exact: true }).selectOption("Scores of scorers")
  await page.getByText("130 in all").waitFor()
  expect((await listed(page, 1))[0]?.slice(0, 3)).toEqual([
    "score",
    "exact",
    expect.stringMatching(/^right (yes|no), length \d+$/),
  ])
  await page.getByLabel("Kind", { exact: true }).selectOption("Any kind")
  await page.getByLabel("By", { exact: true }).selectOption("By you")
  await page.getByText("2 in all").waitFor()
  await page.getByRole("searchbox").fill("NAMED twice")
  await page.getByText("1 in all").waitFor()
  const asked = keys(page)
  expect(asked).toMatchObject({ lens: "feedback", q: "NAMED twice" })
  await page.reload()
  await page.getByText("1 in all").waitFor()
  expect(keys(page)).toEqual(asked)
  await page.getByRole("searchbox").fill("no such scorer")
  await page.getByRole("heading", { name: "No feedback fits" }).waitFor()
  await page.getByRole("button", { name: "Show all feedback" }).click()
  await page.getByText("134 in all").waitFor()
  // What was asked of feedback is nothing to ask of calls.
  await page.getByLabel("By", { exact: true }).selectOption("By ben")
  await page.getByText("1 in all").waitFor()
  await page.getByRole("group", { name: "What is listed" }).getByRole("button", { name: "All calls" }).click()
  await page.getByText("130 calls").waitFor()
  expect(keys(page)).toEqual({ scope: "all" })
  await close()
})

test("rows are read where the end of the list is seen, also when others come in meanwhile", async () => {
  const project = "local/rows"
  const [call = ""] = await sendCalls(project, 1)
  const give = (from: number, count: number) => {
    const weave_ref = `weave:///${project}/call/${call}`
    const batch = Array.from({ length: count }, (_, index) => ({
      project_id: project,
      weave_ref,
      feedback_type: "wandb.note.1",
      payload: { note: `note ${from + index}` },
    }))
    return heddle.send("POST", "/feedback/batch/create", { batch })
  }
  for (const part of [0, 1, 2]) await give(part * 50, 50)
  const { page, close } = await signedIn(browser, heddle, `/${project}/traces?lens=feedback`)
  await page.getByText("150 in all").waitFor()
  await grid(page).getByText("note 149", { exact: true }).waitFor()
  await give(150, 1)
  const seen = new Set<string>()
  await grid(page).hover()
  await expect
    .poll(async () => {
      for (const note of await grid(page).locator('[role="gridcell"]:nth-child(4)').allInnerTexts())
        seen.add(note.trim())
      await page.mouse.wheel(0, 400)
      return seen.has("note 0")
    })
    .toBe(true)
  expect(Array.from({ length: 150 }, (_, index) => `note ${index}`).filter((note) => !seen.has(note))).toEqual([])
  await close()
})

test("names of calls stay while those of newer rows are read", async () => {
  const project = "local/names"
  const calls = await sendCalls(project, 2)
  const give = (index: number) =>
    heddle.send("POST", "/feedback/create", {
      project_id: project,
      weave_ref: `weave:///${project}/call/${calls[index]}`,
      feedback_type: "wandb.note.1",
      payload: { note: `note ${index}` },
    })
  await give(0)
  const { page, close } = await signedIn(browser, heddle, `/${project}/traces?lens=feedback`)
  await grid(page).getByRole("link", { name: "answer_0" }).waitFor()
  await page.route("**/calls/stream_query", () => undefined)
  await give(1)
  await grid(page).getByText("note 1", { exact: true }).waitFor()
  expect(await grid(page).getByRole("link").allInnerTexts()).toEqual(["answer_0"])
  await page.unroute("**/calls/stream_query")
  await close()
})

test("a project without feedback says what appears here", async () => {
  await heddle.send("POST", "/v1/projects", { entity: "local", name: "silent" })
  const { page, close } = await signedIn(browser, heddle, "/local/silent/traces?lens=feedback")
  await page.getByRole("heading", { name: "No feedback yet" }).waitFor()
  await close()
})

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { page, close } = await signedIn(browser, heddle, null)
  const pages = [
    ["/traces?lens=feedback", page.getByText("134 in all")],
    ["/traces?lens=feedback&kind=notes", page.getByText("1 in all")],
  ] as const
  expect(await flawsOfPages(page, `${heddle.url}/${team.id}`, pages)).toEqual({})
  await close()
}, 120_000)
