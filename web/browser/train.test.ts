/** "Train on these" in the browser: labelled and corrected calls become the data of a training job. */
import { randomUUID } from "node:crypto"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { findings } from "./support/axe.ts"
import { launchBrowser, phone } from "./support/browser.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
const project = "local/loop"
const ids = Array.from({ length: 12 }, () => randomUUID())

beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle(), launchBrowser()])
  const batch = ids.map((id, n) => ({
    project_id: project,
    id,
    trace_id: id,
    op_name: "answer",
    started_at: new Date(Date.UTC(2026, 10, 20, 10, n)).toISOString(),
    ended_at: new Date(Date.UTC(2026, 10, 20, 10, n, 1)).toISOString(),
    attributes: {},
    inputs: { messages: [{ role: "user", content: `${n}+1=` }] },
    output: n === 11 ? null : `${n + 1}`,
    exception: n === 11 ? "Timeout: no answer" : null,
    summary: {},
  }))
  await heddle.send("POST", `/v2/${project}/calls/complete`, { batch })
  const say = (id: string | undefined, feedback_type: string, value: unknown) =>
    heddle.send("POST", "/feedback/create", {
      project_id: project,
      weave_ref: `weave:///${project}/call/${id}`,
      feedback_type,
      payload: { value },
    })
  for (const id of ids.slice(0, 10)) await say(id, "right", id !== ids[3])
  await say(ids[3], "better", "four")
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (path: string, options = {}) => signedIn(browser, heddle, `/${project}${path}`, options)
const field = async (page: Page, label: string, text: string) => {
  await page.getByLabel(label, { exact: true }).fill(text)
  await page.getByLabel(label, { exact: true }).press("Enter")
}

test("all traces become rows: a model is made, labels choose, a correction takes an answer's place, and the job begins", async () => {
  const { page } = await open("/traces?scope=all")
  await page.getByRole("link", { name: "Train on all…" }).click()
  await page.getByText("Choose the model that learns.").waitFor()
  await page.getByLabel("New model").fill("adder")
  await page.getByRole("button", { name: "Make the model" }).click()
  const start = page.getByRole("button", { name: /^Start/ })
  await page.getByRole("button", { name: /Start on 11 rows/ }).waitFor()

  await field(page, "Score", "feedback.[right].payload.value")
  await page.getByRole("button", { name: /Start on 10 rows/ }).waitFor()
  await field(page, "Keep from a score of", "1")
  await page.getByRole("button", { name: /Start on 9 rows/ }).waitFor()
  await field(page, "Corrections", "feedback.[better].payload.value")
  await page.getByRole("button", { name: /Start on 10 rows/ }).waitFor()
  const dryRun = page.getByRole("region", { name: "Dry run" })
  await dryRun.getByText("The call ended with an error.").click()
  await dryRun.getByText("Timeout: no answer").waitFor()
  await dryRun.getByRole("row").filter({ hasText: "3+1=" }).getByText("corrected").waitFor()
  expect(new URL(page.url()).searchParams.get("score")).toBe("feedback.[right].payload.value")
  expect(await findings(page)).toEqual([])

  await start.click()
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
  const id = page.url().slice(-36)
  const origin = page.getByRole("table", { name: "What each row was made of" })
  await origin.getByRole("row").filter({ hasText: "corrected" }).waitFor()
  expect(await origin.getByRole("row").count()).toBe(11)
  const { data } = await heddle.send<{ data: { call_id: string; is_corrected: boolean }[] }>(
    "GET",
    `/v1/preview/training-jobs/${id}/rows`,
  )
  expect(data.map(({ call_id }) => call_id)).toEqual(ids.slice(0, 10))
  expect(data.filter(({ is_corrected: isCorrected }) => isCorrected)).toMatchObject([{ call_id: ids[3] }])
})

test("the page says what is missing, shows a refused field's error at the field, and starts no job", async () => {
  const { page } = await open(`/train?ids=${ids[0]}&mode=rl`)
  await page.getByText("Name the field that the reward is.").waitFor()
  await field(page, "Reward", "no.such.field")
  await page
    .getByText(/no\.such\.field/)
    .last()
    .waitFor()
  expect(await page.getByRole("button", { name: "Start" }).isDisabled()).toBe(true)
})

test("on a telephone it is one column", async () => {
  const { page } = await open(`/train?ids=${ids[0]},${ids[1]}`, { viewport: phone })
  await page.getByRole("button", { name: /Start on 2 rows/ }).waitFor()
  expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true)
})
