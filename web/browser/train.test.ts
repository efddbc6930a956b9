/** "Train on these" in the browser: labelled and corrected calls become the data of a training job. */
import { randomUUID } from "node:crypto"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { findings } from "./support/axe.ts"
import { launchBrowser, phone } from "./support/browser.ts"
import { fillEvaluation } from "./support/fill-evaluations.ts"
import { fillRollouts } from "./support/fill-rollouts.ts"
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
  const { page, close } = await open("/traces?scope=all")
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

  // Another model can be made, and until it is none learns.
  await page.getByLabel("Model", { exact: true }).selectOption("a new model…")
  await page.getByText("Choose the model that learns.").waitFor()
  expect(await page.getByRole("button", { name: /^Start/ }).isDisabled()).toBe(true)
  await page.getByLabel("New model").fill("other")
  await page.getByRole("button", { name: "Make the model" }).click()
  await page.getByRole("button", { name: /Start on 10 rows/ }).waitFor()
  expect(new URL(page.url()).searchParams.get("model")).toBe("other")

  await start.click()
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
  await page.getByRole("heading", { name: "SFT job of other" }).waitFor()
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
  await close()
})

test("answers to the same question become pairs: by score, by a written answer, or by votes, and the job begins", async () => {
  const pairs = "local/pairs"
  // Two answers of different scores to each of two questions, two equal ones to the third, one to the fourth.
  const answers = [
    ["2+2=", "4", 1],
    ["2+2=", "5", 0],
    ["3+3=", "6", 1],
    ["3+3=", "9", 0],
    ["4+4=", "8", 1],
    ["4+4=", "eight", 1],
    ["5+5=", "11", 0],
  ] as const
  const calls = answers.map(([question, output], n) => ({ id: randomUUID(), n, question, output }))
  const batch = calls.map(({ id, n, question, output }) => ({
    project_id: pairs,
    id,
    trace_id: id,
    op_name: "answer",
    started_at: new Date(Date.UTC(2026, 10, 20, 10, n)).toISOString(),
    ended_at: new Date(Date.UTC(2026, 10, 20, 10, n, 1)).toISOString(),
    attributes: {},
    inputs: { messages: [{ role: "user", content: question }] },
    output,
    summary: {},
  }))
  await heddle.send("POST", `/v2/${pairs}/calls/complete`, { batch })
  const say = (id: string | undefined, feedback_type: string, payload: object) =>
    heddle.send("POST", "/feedback/create", {
      project_id: pairs,
      weave_ref: `weave:///${pairs}/call/${id}`,
      feedback_type,
      payload,
    })
  for (const [n, [, , value]] of answers.entries()) await say(calls[n]?.id, "right", { value })
  await say(calls[6]?.id, "better", { value: "10" })
  await say(calls[0]?.id, "playground.vote", { value: "better", over: [calls[1]?.id] })
  await heddle.send("POST", "/v1/preview/models", { project: "pairs", name: "adder", base_model: "heddle/tiny" })

  const { page, close } = await signedIn(browser, heddle, `/${pairs}/train`)
  await page.getByRole("button", { name: /Start on 7 rows/ }).waitFor()
  await page.getByLabel("from preferences: of two answers to a question, the better one").check()
  await page.getByText("Name the field that tells the better answer.").waitFor()
  await field(page, "Score", "feedback.[right].payload.value")
  await page.getByRole("button", { name: /Start on 2 pairs/ }).waitFor()
  const dryRun = page.getByRole("region", { name: "Dry run" })
  await dryRun.getByText("1 with equal scores and 1 with one answer make no pair").waitFor()
  await dryRun.getByText("There is no other answer to compare it with.").click()
  await dryRun.getByText("it is the only answer to its question").waitFor()
  await dryRun.getByText("Neither answer is better than the other.").waitFor()
  const shown = dryRun.getByRole("table", { name: "The first pairs" })
  expect(await shown.getByRole("columnheader").allInnerTexts()).toEqual(expect.arrayContaining(["Worse answer"]))
  expect(await shown.getByRole("row").filter({ hasText: "3+3=" }).getByRole("cell").allInnerTexts()).toEqual([
    expect.any(String),
    "3+3=",
    "6",
    "9",
    "1",
  ])
  expect(await findings(page)).toEqual([])

  await page.getByLabel("Pairs from").selectOption("fields")
  await page.getByText("Name a field with the better or the worse answer.").waitFor()
  await field(page, "Better answer", "feedback.[better].payload.value")
  await page.getByRole("button", { name: /Start on 1 pair/ }).waitFor()
  await shown.getByRole("row").filter({ hasText: "5+5=" }).getByText("10", { exact: true }).waitFor()
  await page.getByLabel("Pairs from").selectOption("vote")
  await shown.getByRole("row").filter({ hasText: "2+2=" }).waitFor()
  await dryRun.getByText("There is no other answer to compare it with.").waitFor()

  await page.getByLabel("Pairs from").selectOption("score")
  await field(page, "Beta", "0.5")
  await page.getByLabel("Compared with").selectOption("base")
  await page.getByRole("button", { name: /Start on 2 pairs/ }).click()
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
  await page.getByRole("heading", { name: "DPO job of adder" }).waitFor()
  const made = await heddle.send<{ data: { call_id: string }[]; target: object; summary: object }>(
    "GET",
    `/v1/preview/training-jobs/${page.url().slice(-36)}/rows`,
  )
  expect(made.data.map(({ call_id }) => call_id)).toEqual(calls.slice(0, 4).map(({ id }) => id))
  expect(made).toMatchObject({ target: { kind: "dpo", beta: 0.5, reference: "base" }, summary: { pairs: 2 } })
  await close()
})

test("rollouts that agents made: chosen on the page, judged by reward, feedback, labels or scores, and trained on", async () => {
  const attempts = await fillRollouts(heddle, "local/attempts")
  const { page, complaints, close } = await signedIn(browser, heddle, "/local/attempts/train")
  await page.getByLabel("Rows", { exact: true }).selectOption("rollouts")
  const start = (count: string) => page.getByRole("button", { name: new RegExp(`^Start on ${count}\\b`) })
  // Four have a reward; of two others nobody said anything.
  await start("4 answers").waitFor()
  const search = () => Object.fromEntries(new URL(page.url()).searchParams)
  expect(search()).toEqual({ from: "rollouts", mode: "rl", score: "rollout.reward" })
  const dryRun = page.getByRole("region", { name: "Dry run" })
  await dryRun.getByText("A field of its score has no number").click()
  await dryRun.getByText("unjudged-1").first().waitFor()
  await dryRun.getByText("0 with equal rewards and 0 of one answer teach nothing").waitFor()
  expect(await findings(page)).toEqual([])

  await field(page, "Of the group", "order-0")
  await start("2 answers").waitFor()
  expect(search()).toMatchObject({ rolloutGroup: "order-0" })
  await field(page, "Answered by step", "7")
  await dryRun.getByText("read", { exact: true }).waitFor()
  await expect.poll(() => page.getByRole("button", { name: /^Start/ }).isDisabled()).toBe(true)
  await field(page, "Answered by step", "0")
  await field(page, "Of the group", "")
  await page.getByLabel("Begun").selectOption("24h")
  await start("4 answers").waitFor()

  // What was said of the calls around them, each with a click.
  const known = page.getByRole("group", { name: "Reward: known fields" })
  await known.getByRole("button", { name: "rollout.reward" }).click()
  await known.getByRole("button", { name: "feedback.[helpful].payload.value" }).click()
  await start("2 answers").waitFor()
  await known.getByRole("button", { name: "feedback.[helpful].payload.value" }).click()
  await page.getByText("Name the field that the reward is.").waitFor()
  await page.getByLabel("Labels of").selectOption("What agents said")
  await known.getByRole("button", { name: "label.tone" }).click()
  await dryRun.getByText("A field of its score has no number").waitFor()
  await page.getByRole("group", { name: "Words that count 1" }).getByRole("button", { name: "kind" }).click()
  await start("2 answers").waitFor()
  expect(search()).toMatchObject({ score: "label.tone", values: "kind=1,rude=0" })
  await known.getByRole("button", { name: "label.tone" }).click()
  await field(page, "Reward", "scores.exact")
  await start("1 answer").waitFor()

  await field(page, "Reward", "rollout.reward")
  await start("4 answers").click()
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
  const origin = page.getByRole("table", { name: "What each row was made of" })
  for (const attempt of attempts) await origin.getByText(`rollout ${attempt}`).waitFor()
  const made = await heddle.send<{ data: { rollout_id: string; score: number }[]; source: object }>(
    "GET",
    `/v1/preview/training-jobs/${page.url().slice(-36)}/rows`,
  )
  expect(made.source).toMatchObject({ kind: "rollouts", step: 0 })
  expect(made.data.map(({ rollout_id, score }) => [rollout_id, score])).toEqual(
    attempts.map((attempt, index) => [attempt, index % 2]),
  )
  expect(complaints).toEqual([])
  await close()
})

/** A model that is named in the address, so that it does not matter which others there are. */
const makeLearner = () =>
  heddle.send("POST", "/v1/preview/models", {
    project: "loop",
    name: "learner",
    base_model: "heddle/tiny",
    return_existing: true,
  })

test("what was said of the calls that are shown is offered, a score or a correction, and taken in with a click", async () => {
  await makeLearner()
  const { page, close } = await open(`/train?model=learner&ids=${ids[0]},${ids[1]}`)
  const known = (name: string) => page.getByRole("group", { name: `${name}: known fields` })
  const valueOf = (type: string) => `feedback.[${type}].payload.value`
  const [right, better] = [valueOf("right"), valueOf("better")] as const
  await known("Score").getByRole("button", { name: right }).waitFor()
  expect(await page.getByRole("button", { name: better }).count()).toBe(0)

  await page.goto(`${heddle.url}/${project}/train?model=learner&scope=all`)
  await page.getByRole("button", { name: /Start on 11 rows/ }).waitFor()
  await known("Score").getByRole("button", { name: right }).click()
  await page.getByRole("button", { name: /Start on 9 rows/ }).waitFor()
  await known("Corrections").getByRole("button", { name: better }).click()
  await page.getByRole("button", { name: /Start on 10 rows/ }).waitFor()
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({ score: right, min: "1", fix: better })
  // With a weight it is still the same field.
  await field(page, "Score", `${right}*0.5`)
  await page.getByRole("button", { name: /Start on 1 row\b/ }).waitFor()
  await known("Score").getByRole("button", { name: right, pressed: true }).click()
  await page.getByRole("button", { name: /Start on 11 rows/ }).waitFor()

  await page.getByLabel("from preferences: of two answers to a question, the better one").check()
  await page.getByLabel("Pairs from").selectOption("fields")
  await known("Better answer").getByRole("button", { name: better }).click()
  await page.getByRole("button", { name: /Start on 1 pair\b/ }).waitFor()
  expect(await findings(page)).toEqual([])
  await close()
})

test("scores of trials and columns of a dataset are offered, too", async () => {
  const { id, runs } = await fillEvaluation(heddle, "judged")
  const { page, close } = await signedIn(browser, heddle, `/${id}/train?from=evaluation&runs=${runs[0]}`)
  const known = (name: string) => page.getByRole("group", { name: `${name}: known fields` })
  await known("Score").getByRole("button", { name: "scores.resolved" }).click()
  await page.waitForURL((url) => url.searchParams.get("score") === "scores.resolved")
  await known("Score").getByRole("button", { name: "scores.judge.tone" }).waitFor()
  await page.goto(`${heddle.url}/${id}/train?from=dataset&dataset=returns-eval`)
  await known("Corrections").getByRole("button", { name: "row.ticket" }).waitFor()
  await close()
})

test("a field keeps the focus when it is committed, and says which text does not count", async () => {
  await makeLearner()
  const { page, close } = await open(`/train?model=learner&ids=${ids[0]},${ids[1]}`)
  await page.getByRole("button", { name: /Start on 2 rows/ }).waitFor()
  const least = page.getByLabel("Keep from a score of", { exact: true })
  await field(page, "Keep from a score of", "0.5")
  await page.waitForURL((url) => url.searchParams.get("min") === "0.5")
  expect(await least.evaluate((one) => one.ownerDocument.activeElement === one)).toBe(true)
  await field(page, "Keep from a score of", "much")
  await page.getByText("This is no number.").waitFor()
  expect([await least.inputValue(), new URL(page.url()).searchParams.get("min")]).toEqual(["much", "0.5"])
  await field(page, "Rows a step", "0")
  await page.getByText("This is no whole number from 1 on.").waitFor()
  await field(page, "Rows a step", "4")
  await page.waitForURL((url) => url.searchParams.get("batch") === "4")
  await close()
})

test("the key that starts the job shows first what a value comes to that is still being typed", async () => {
  await makeLearner()
  const { page, close } = await open(`/train?model=learner&ids=${ids[0]},${ids[1]}`)
  const start = page.getByRole("button", { name: /Start on 2 rows/ })
  await start.waitFor()
  const rows = page.getByLabel("Rows a step", { exact: true })
  const made: unknown[] = []
  page.on("request", (request) => {
    if (request.url().endsWith("/training-jobs/from-source")) made.push(request.postDataJSON())
  })
  for (const text of ["none", "3"]) {
    await rows.fill(text)
    await rows.press("Control+Enter")
  }
  await page.waitForURL((url) => url.searchParams.get("batch") === "3")
  await start.waitFor()
  expect(made).toEqual([])
  // With a space it is the same number, for which there is nothing new to show.
  await rows.fill("3 ")
  for (let press = 0; press < 2; press += 1) await rows.press("Control+Enter")
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
  expect(made).toEqual([expect.objectContaining({ config: { batch_size: 3 } })])
  await close()
})

test("a model that is not there is told, and no other one learns in its place", async () => {
  await makeLearner()
  const { page, close } = await open(`/train?model=deleted-one&ids=${ids[0]},${ids[1]}`)
  await page.getByText("There is no model deleted-one in this project").waitFor()
  expect(await page.getByRole("button", { name: /^Start/ }).isDisabled()).toBe(true)
  await page.getByLabel("Model", { exact: true }).selectOption("learner")
  await page.getByRole("button", { name: /Start on 2 rows/ }).waitFor()
  await close()
})

test("the page says what is missing, shows a refused field's error at the field, and starts no job", async () => {
  const { page, close } = await open(`/train?ids=${ids[0]}&mode=rl`)
  await page.getByText("Name the field that the reward is.").waitFor()
  await field(page, "Reward", "no.such.field")
  await page
    .getByText(/no\.such\.field/)
    .last()
    .waitFor()
  expect(await page.getByRole("button", { name: "Start" }).isDisabled()).toBe(true)
  await close()
})

test("on a telephone it is one column, and a long field breaks", async () => {
  const feedback_type = "answered_as_the_policy_of_returns_says_that_it_should_be"
  const weave_ref = `weave:///${project}/call/${ids[0]}`
  await heddle.send("POST", "/feedback/create", {
    project_id: project,
    weave_ref,
    feedback_type,
    payload: { value: 1 },
  })
  const { page, close } = await open(`/train?ids=${ids[0]},${ids[1]}`, { viewport: phone })
  await page.getByRole("button", { name: /Start on 2 rows/ }).waitFor()
  const known = await page.getByRole("button", { name: feedback_type }).boundingBox()
  expect((known?.x ?? 0) + (known?.width ?? 0)).toBeLessThanOrEqual(390 - 16)
  expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true)
  await close()
})
