/**
 * Trajectories of RL jobs, on a server that ran them: groups, one trajectory with its tokens, a question across steps.
 */
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { trajectoryGroupsAnswer } from "../../server/src/wire/training/trained-trajectory.ts"
import type * as z from "zod"
import { foreign, launchBrowser, type Visit } from "./support/browser.ts"
import { flawsOfPages } from "./support/axe.ts"
import { fillProject, type FilledProject, startSft, trainGroups } from "./support/fill.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

type Groups = z.output<typeof trajectoryGroupsAnswer>

let heddle: Heddle
let browser: Browser
let filled: FilledProject
/**
 * `newest` is the newest RL job; `mixed` has groups that teach, groups that do not, and trajectories without tokens.
 */
let newest: string
let mixed: string
let groups: Groups

beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle(), launchBrowser()])
  filled = await fillProject(heddle, "support", 2)
  mixed = await trainGroups(heddle, filled.id, [
    { question: "7+1=", rewards: [0, 1, 0.5, 0.25] },
    { question: "8+1=", rewards: [0.5, 0.5, 0.5] },
    {
      question: "What do you say of a question that is much longer than a row of a table has room for?",
      rewards: [0, 1],
    },
    { question: "9+1=", rewards: [0, 1], isWithoutLogprobs: true },
  ])
  const { data } = await heddle.send<{ data: { id: string; model: string }[] }>(
    "GET",
    `/v1/preview/training-jobs?project=${filled.project}&status=succeeded`,
  )
  newest = data.filter(({ model }) => model === "returns-agent")[1]?.id ?? ""
  groups = await heddle.send<Groups>("GET", `/v1/preview/training-jobs/${mixed}/trajectory-groups`)
}, 240_000)
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (path: string, options = {}) => signedIn(browser, heddle, `/${filled.id}${path}`, options)
const keys = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
const table = (page: Page) => page.getByRole("table", { name: "Groups of trajectories" })
const rowOf = (page: Page, name: string) => table(page).getByRole("row").filter({ hasText: name })
const complaintsOf = ({ complaints }: Visit) => complaints.filter((text) => !text.includes("401"))

describe("the trajectories of a job", () => {
  test("a row is a group, a cell a trajectory with its reward; best, worst and groups that teach nothing are marked", async () => {
    const visit = await open(`/jobs/${mixed}`)
    const { page } = visit
    await page.getByRole("button", { name: "Trajectories" }).click()
    await page.waitForURL("**?view=trajectories")
    const row = rowOf(page, "7+1=")
    await row.waitFor()
    expect(await row.getByRole("link").allInnerTexts()).toEqual(["0", "1", ".50", ".25"])
    await row.getByRole("link", { name: "7+1=, trajectory 1, reward 1.00, best" }).waitFor()
    await row.getByRole("link", { name: "7+1=, trajectory 0, reward 0.00, worst" }).waitFor()
    expect(await row.innerText()).toContain("0.44 ± 0.37")
    await rowOf(page, "8+1=").getByText("no contrast").waitFor()
    const ground = (name: string) => page.getByRole("link", { name }).getAttribute("style")
    expect(await ground("7+1=, trajectory 1, reward 1.00, best")).toContain("background: var(--reward-8)")
    expect(await ground("8+1=, trajectory 0, reward 0.50, not trained")).toBeNull()
    const drops = page.getByRole("list", { name: "Not trained" })
    expect(await drops.getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringMatching(/^3 trajectories\s+All rewards of the group are equal/),
      expect.stringMatching(/^2 trajectories\s+There is no log-probability for every sampled token/),
    ])
    expect([foreign(visit.requests, heddle.url), complaintsOf(visit)]).toEqual([[], []])
    await visit.close()
  })

  test("the figure in the cells and the order of the groups are in the address", async () => {
    const { page, close } = await open(`/jobs/${mixed}?view=trajectories`)
    await page.getByRole("button", { name: "Advantage" }).click()
    await page.getByRole("button", { name: "Lowest mean" }).click()
    await expect.poll(() => keys(page)).toEqual({ view: "trajectories", by: "advantage", sort: "mean" })
    await page.reload()
    const first = table(page).getByRole("row").nth(1)
    await expect.poll(() => first.innerText()).toContain("7+1=")
    const wanted = groups.data[0]?.trajectories.map(({ advantage }) => Math.sign(advantage))
    const shown = await first.getByRole("link").allInnerTexts()
    expect(shown.map((text) => (text.startsWith("+") ? 1 : -1))).toEqual(wanted)
    await close()
  })

  test("arrow keys go from cell to cell, and Enter opens one", async () => {
    const { page, close } = await open(`/jobs/${mixed}?view=trajectories`)
    await rowOf(page, "7+1=").getByRole("link").first().focus()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowDown")
    const focused = () => page.evaluate<string | null>("document.activeElement?.getAttribute('aria-label')")
    expect(await focused()).toBe("8+1=, trajectory 1, reward 0.50, not trained")
    await page.keyboard.press("Enter")
    await page.waitForURL(`**/jobs/${mixed}/groups/1/1`)
    await page.getByRole("heading", { name: "Trajectory 1" }).waitFor()
    await close()
  })

  test("a job that compares no rollouts has none, and says so", async () => {
    const rows = [
      {
        messages: [
          { role: "user", content: "1+1=" },
          { role: "assistant", content: "2" },
        ],
      },
    ]
    const id = await startSft(heddle, filled.project, "dialogues", rows)
    const { page, close } = await open(`/jobs/${id}?view=trajectories`)
    await page.getByText("it has no rollouts to compare").waitFor()
    await close()
  })
})

interface Trajectory {
  turns: { tokens: { texts: string[]; sampled_logprobs: number[]; ratios: number[]; trained: boolean[] } | null }[]
}

describe("one trajectory", () => {
  const path = () => `/jobs/${mixed}/groups/0/1`

  test("shows its turns, and its tokens with the server's figures for each", async () => {
    const visit = await open(path())
    const { page } = visit
    const { turns } = await heddle.send<Trajectory>(
      "GET",
      `/v1/preview/training-jobs/${mixed}/trajectory-groups/0/trajectories/1`,
    )
    const tokens = turns[1]?.tokens
    if (tokens == null) throw new Error("no tokens")
    await page.getByRole("list", { name: "Turns" }).getByText("7+1=").waitFor()
    const shown = page.getByRole("group", { name: "Tokens of turn 0" }).getByRole("button")
    await expect.poll(() => shown.count()).toBe(tokens.texts.length)
    const probability = `probability ${(100 * Math.exp(tokens.sampled_logprobs[0] ?? 0)).toFixed(1)}\u202f%, trained`
    expect(await shown.first().getAttribute("title")).toBe(probability)
    await page.getByRole("button", { name: "Ratio" }).click()
    await expect.poll(() => shown.first().getAttribute("title")).toBe(`ratio ${tokens.ratios[0]?.toFixed(3)}, trained`)
    const underlined = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('[aria-label="Tokens of turn 0"] > *')).textDecorationLine`,
    )
    expect(underlined).toBe("underline")
    expect([foreign(visit.requests, heddle.url), complaintsOf(visit)]).toEqual([[], []])
    await visit.close()
  })

  test("values of the last gradient step are read though the job is seen to end before they are", async () => {
    const { page, close } = await signedIn(browser, heddle, null)
    const jobPath = `/v1/preview/training-jobs/${mixed}`
    let isOver = false
    await page.route(`**${jobPath}`, async (route) => {
      const answer = await route.fetch()
      const job = (await answer.json()) as object
      await route.fulfill({ response: answer, json: isOver ? job : { ...job, ended_at: null } })
    })
    await page.route(`**${jobPath}/trajectory-groups/0/trajectories/1`, async (route) => {
      const isRecorded = isOver
      const answer = await route.fetch()
      const trajectory = (await answer.json()) as Trajectory
      const unknown = (values: readonly unknown[]) => values.map(() => null)
      const turns = trajectory.turns.map(({ tokens, ...turn }) => ({
        ...turn,
        tokens: tokens && { ...tokens, logprobs: unknown(tokens.texts), ratios: unknown(tokens.texts) },
      }))
      await route.fulfill({ response: answer, json: isRecorded ? trajectory : { ...trajectory, turns } })
    })
    await page.goto(`${heddle.url}/${filled.id}${path()}?heat=ratio`)
    await page.getByText("Its gradient step is not done yet: ratios come with it.").waitFor()
    const first = page.getByRole("group", { name: "Tokens of turn 0" }).getByRole("button").first()
    expect(await first.getAttribute("title")).not.toMatch(/^ratio \d/)
    isOver = true
    await expect.poll(() => first.getAttribute("title"), { timeout: 10_000 }).toMatch(/^ratio \d\.\d{3}, trained$/)
    await close()
  })

  test("the colour and the token are in the address, and keys choose them", async () => {
    const { page, close } = await open(path())
    const tokens = page.getByRole("group", { name: "Tokens of turn 0" }).getByRole("button")
    await tokens.first().focus()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("3")
    await expect.poll(() => keys(page)).toEqual({ token: "1.1", heat: "advantage" })
    await page.reload()
    const inspector = page.getByRole("region", { name: "Selected token" })
    await inspector.getByText(/^Token 2 of \d+/).waitFor()
    await inspector.locator("dt:text-is('Trained') + dd:text-is('yes')").waitFor()
    expect(await tokens.nth(1).getAttribute("aria-pressed")).toBe("true")
    await close()
  })

  test("best and worst of its group are a step away", async () => {
    const { page, close } = await open(`/jobs/${mixed}/groups/0/2?heat=ratio`)
    await page.getByRole("button", { name: "Best", exact: true }).click()
    await page.waitForURL(`**/groups/0/1?heat=ratio`)
    await expect.poll(() => page.getByRole("button", { name: "Best", exact: true }).isDisabled()).toBe(true)
    await page.keyboard.press("b")
    await page.waitForURL(`**/groups/0/0?heat=ratio`)
    await page.keyboard.press("j")
    await page.waitForURL(`**/groups/0/1?heat=ratio`)
    await close()
  })

  test("a trajectory that is not trained says why", async () => {
    const { page, close } = await open(`/jobs/${mixed}/groups/1/0`)
    await page.getByText("All rewards of the group are equal").waitFor()
    await page.getByText(/0 of \d+ tokens trained/).waitFor()
    await page.goto(`${heddle.url}/${filled.id}/jobs/${mixed}/groups/3/0`)
    await page.getByText("Not trained: turn 0.").waitFor()
    await close()
  })

  test("the same question at other steps leads there", async () => {
    const { page, close } = await open(`/jobs/${newest}/groups/0/0`)
    const steps = page.getByRole("region", { name: "Same question across steps" }).getByRole("listitem")
    await steps.filter({ hasText: "this group" }).first().waitFor()
    await page.getByRole("link", { name: /^step 1, trajectory 1, reward/ }).click()
    await page.waitForURL((url) => !url.pathname.includes(newest) && url.pathname.endsWith("/groups/0/1"))
    await steps.filter({ hasText: "step 2" }).first().waitFor()
    await close()
  })

  test("one that is not there says so, in its place", async () => {
    const { page, close } = await open(`/jobs/${mixed}/groups/0/99`)
    await page.getByText(/has no trajectory 99 in group 0/).waitFor()
    await close()
  })
})

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { page, close } = await signedIn(browser, heddle, null)
  const token = page
    .getByRole("group", { name: /^Tokens of/ })
    .getByRole("button")
    .first()
  const pages = [
    [`/jobs/${mixed}?view=trajectories`, rowOf(page, "7+1=")],
    [`/jobs/${mixed}?view=trajectories&by=advantage`, rowOf(page, "7+1=")],
    [`/jobs/${mixed}/groups/0/1?token=1.0`, token],
    [`/jobs/${mixed}/groups/0/1?heat=ratio`, token],
    [`/jobs/${mixed}/groups/0/0?heat=advantage`, token],
    [`/jobs/${mixed}/groups/1/0?heat=trained`, token],
  ] as const
  expect(await flawsOfPages(page, `${heddle.url}/${filled.id}`, pages)).toEqual({})
  await close()
}, 180_000)
