/** The pages of agents and conversations over spans that an exporter has sent: evaluation-store-calls 10. */
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { flawsOfPages } from "./support/axe.ts"
import { foreign, launchBrowser, phone } from "./support/browser.ts"
import { fillAgents, firstBegan, sendTurns, traceId, turnOf } from "./support/fill-agents.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
const project = "local/support"

beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  await fillAgents(heddle, project)
}, 120_000)

afterAll(async () => {
  await browser.close()
  await heddle.close()
})

const open = (path: string, options: Parameters<typeof signedIn>[3] = {}) =>
  signedIn(browser, heddle, `/${project}${path}`, options)

/** The texts of a row's cells. */
const cellsOf = (page: Page, text: string) =>
  page.getByRole("row").filter({ hasText: text }).first().getByRole("gridcell").allInnerTexts()

test("the agents are listed with what they did, and lead to their conversations or their calls", async () => {
  const { page, requests, complaints, close } = await open("/traces")
  await page.getByRole("group", { name: "What is listed" }).getByRole("button", { name: "Agents" }).click()
  await page.getByText("3 agents").waitFor()
  const [, name, versions, invocations, conversations, errors, p50, p95, tokens] = await cellsOf(page, "returns-desk")
  expect([p50, p95]).toEqual(["8.00\u202fs", "10.0\u202fs"])
  expect([name, versions?.split(/\s+/), invocations, conversations, errors, tokens]).toEqual([
    "returns-desk",
    ["1", "2"],
    "122",
    "98",
    "1",
    expect.stringMatching(/^1\d\d.k$/),
  ])
  await page.getByRole("link", { name: "night-shift" }).click()
  await page.getByRole("button", { name: /^Change attributes.agent is/ }).waitFor()
  await page.getByText("1 call", { exact: true }).waitFor()
  await page.goBack()
  await page.getByRole("link", { name: "size-advisor" }).click()
  await page.getByText("33 conversations").waitFor()
  await page.getByText("In which size-advisor took part").waitFor()
  await page.getByRole("button", { name: "Show all" }).click()
  await page.getByText("131 conversations").waitFor()
  expect([foreign(requests, heddle.url), complaints]).toEqual([[], []])
  await close()
})

test("conversations are listed with the newest first, sorted, within a time, and read as they are scrolled to", async () => {
  const { page, requests, close } = await open("/traces?lens=conversations")
  await page.getByText("131 conversations").waitFor()
  const [, name, answer, agents, turns] = await cellsOf(page, "order 4129")
  expect([name, answer, agents, turns]).toEqual([
    "Does the jacket of order 4129 come in a larger size?",
    "It does, in M and L.",
    "returns-desk",
    "1",
  ])
  const pages = () => requests.filter((url) => url.endsWith("/agents/spans/query")).length
  expect(pages()).toBe(1)
  await page.getByRole("grid").getByText("order 4129").hover()
  await page.mouse.wheel(0, 100_000)
  await page.getByText("My parcel came with a torn seam. What now?").waitFor()
  expect(pages()).toBe(2)
  await page.getByRole("button", { name: "Turns" }).click()
  await page.waitForURL(/sort=-turns/)
  await page.getByRole("row").nth(1).getByText("My parcel came").waitFor()
  await page.goto(`${heddle.url}/${project}/traces?lens=conversations&to=2026-11-20T10:30:00Z`)
  await page.getByText("1 conversation", { exact: true }).waitFor()
  await page.keyboard.press("j")
  await page.keyboard.press("Enter")
  await page.waitForURL(/\/conversations\/c-parcel$/)
  await close()
})

test("a field above the lists finds agents by name, and conversations by what was said or failed in them", async () => {
  const { page, complaints, close } = await open("/traces?lens=agents")
  await page.getByText("3 agents").waitFor()
  await page.keyboard.press("/")
  await page.keyboard.type("SIZE")
  await page.getByText("1 agent", { exact: true }).waitFor()
  await page.waitForURL(/q=SIZE/)
  await page.getByRole("button", { name: "Duration p95" }).click()
  await page.waitForURL(/sort=-p95/)
  await page.getByRole("searchbox", { name: "Find by name" }).fill("nobody")
  await page.getByText("None is called “nobody”.").waitFor()
  await page.getByRole("button", { name: "Show all agents" }).click()
  await page.getByText("3 agents").waitFor()
  await page.goto(`${heddle.url}/${project}/traces?lens=conversations&q=order+4129`)
  await page.getByText("1 conversation", { exact: true }).waitFor()
  const cells = await cellsOf(page, "order 4129")
  expect(cells.slice(6, 8)).toEqual([
    expect.stringMatching(/^[\d.]+\u202fs$/),
    expect.stringMatching(/^[\d.]+\u202fs$/),
  ])
  await page.getByRole("searchbox").fill("nobody said this")
  await page.getByRole("searchbox").press("Enter")
  await page.getByText("None holds “nobody said this”.").waitFor()
  await page.getByRole("searchbox").fill("torn SEAM")
  await page.getByRole("row").nth(1).getByText("My parcel came").waitFor()
  await page.getByRole("searchbox").fill("warehouse did not")
  await page.getByText("1 conversation", { exact: true }).waitFor()
  expect(complaints).toEqual([])
  await close()
})

test("the link that the SDK prints opens the conversation: turns, tools folded, and the next turns on demand", async () => {
  const { page, complaints, close } = await open("/weave/agents/conversations/c-parcel")
  await page.waitForURL(/\/local\/support\/conversations\/c-parcel$/)
  await page.getByRole("heading", { level: 1, name: "My parcel came with a torn seam. What now?" }).waitFor()
  await page.getByRole("list", { name: "Of the whole conversation" }).getByText("25 turns").waitFor()
  const first = page.getByRole("region", { name: "Turn 1", exact: true })
  await first.getByText("the label is on its way").waitFor()
  expect(await first.getByLabel("Arguments of lookup_order").isVisible()).toBe(false)
  await first.getByText("lookup_order").first().click()
  expect(await first.getByLabel("Arguments of lookup_order").innerText()).toBe(`{"order": 1000}`)
  expect(await first.getByLabel("Result of lookup_order").innerText()).toBe(`{"state": "delivered", "seam": "torn"}`)
  await page.getByRole("region", { name: "Turn 4", exact: true }).getByText("the warehouse did not answer").waitFor()
  const long = page.getByRole("region", { name: "Turn 2", exact: true })
  const heightOf = async () => (await long.boundingBox())?.height ?? 0
  const clamped = await heightOf()
  await long.getByRole("button", { name: "Show all" }).click()
  expect(await heightOf()).toBeGreaterThan(3 * clamped)
  // The same instructions stand in every turn, and are said once.
  expect(await page.getByText(/instructions of/).count()).toBe(2)
  expect(await page.getByRole("region", { name: /^Turn \d+$/ }).count()).toBe(20)
  await page.getByRole("button", { name: "Show more turns, of 25" }).click()
  await page.getByRole("region", { name: "Turn 25", exact: true }).getByText("And question 25?").waitFor()
  expect(await page.getByRole("button", { name: /^Show more turns/ }).count()).toBe(0)
  await first.getByRole("link", { name: "Trace of turn 1" }).click()
  await page.waitForURL(new RegExp(`/traces/${traceId(1)}`))
  expect(complaints).toEqual([])
  await close()
})

test("the SDK's link to a conversation leads there whatever its id has in it", async () => {
  const id = "desk/42 50% ü"
  const turn = { number: 9100, began: firstBegan, agent: "helper", asks: "Who is there?", answers: "Me." }
  await sendTurns(heddle, "local/odd", [turnOf({ ...turn, conversation: id })])
  // As Python's urllib.parse.quote writes it.
  const quoted = id.split("/").map(encodeURIComponent).join("/")
  const { page, close } = await signedIn(browser, heddle, `/local/odd/weave/agents/conversations/${quoted}`)
  await page.getByRole("heading", { level: 1, name: "Who is there?" }).waitFor()
  await page.goto(`${heddle.url}/local/odd/traces?lens=conversations`)
  await page.getByRole("link", { name: "Who is there?" }).click()
  await page.getByRole("region", { name: "Turn 1", exact: true }).getByText("Me.").waitFor()
  await page.reload()
  await page.getByRole("region", { name: "Turn 1", exact: true }).getByText("Me.").waitFor()
  await close()
})

test("new turns come in while the list is live", async () => {
  const other = "local/live"
  const turn = (number: number) =>
    turnOf({ number, began: firstBegan, agent: "helper", conversation: `l-${number}`, asks: "Hello?", answers: "Hi." })
  await sendTurns(heddle, other, [turn(9001)])
  const { page, close } = await signedIn(browser, heddle, `/${other}/traces?lens=conversations&live=1`)
  await page.getByText("1 conversation", { exact: true }).waitFor()
  await sendTurns(heddle, other, [turn(9002)])
  await page.getByText("2 conversations").waitFor()
  await close()
})

test("what is not there is said with a way on", async () => {
  await heddle.send("POST", "/v1/projects", { entity: "local", name: "bare" })
  const { page, close } = await signedIn(browser, heddle, "/local/bare/traces?lens=agents")
  await page.getByRole("region", { name: "Code for Weave" }).getByText('"local/bare"').waitFor()
  await page.getByRole("region", { name: "Settings for OpenTelemetry" }).getByText("project_id=local/bare").waitFor()
  await page.goto(`${heddle.url}/${project}/traces?lens=agents&to=2020-01-01`)
  await page.getByRole("button", { name: "Show all agents" }).click()
  await page.getByText("3 agents").waitFor()
  await page.goto(`${heddle.url}/${project}/conversations/c%2Fnone`)
  await page.getByText("There is no such conversation here").waitFor()
  await page.getByRole("link", { name: "All conversations" }).click()
  await page.getByText("131 conversations").waitFor()
  await page.goto(`${heddle.url}/local/nowhere/conversations/c-1`)
  await page.getByText("There is no such project here").waitFor()
  await close()
})

test("turns that cannot be read are an error in their place, which tries again", async () => {
  const { page, close } = await open("/traces")
  await page.route("**/agents/conversations/chat", (route) => route.fulfill({ status: 400, json: { detail: "No." } }))
  await page.goto(`${heddle.url}/${project}/conversations/c-parcel`)
  await page.getByText("The turns could not be read.").waitFor()
  await page.getByText("25 turns").waitFor()
  await page.unroute("**/agents/conversations/chat")
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByText("the label is on its way").first().waitFor()
  await close()
})

test("on a phone the lists are changed by a menu", async () => {
  const { page, close } = await open("/traces", { viewport: phone })
  await page.getByRole("button", { name: /^What is listed/ }).click()
  await page.getByRole("menuitem", { name: "Conversations" }).click()
  await page.getByRole("heading", { level: 1, name: "Conversations" }).waitFor()
  await page.getByText("order 4129").click()
  await page.getByRole("region", { name: "Turn 1", exact: true }).getByText("It does, in M and L.").waitFor()
  await close()
})

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { page, close } = await signedIn(browser, heddle, null)
  const pages = [
    [`${project}/traces?lens=agents`, page.getByText("night-shift")],
    [`${project}/traces?lens=conversations&agent=size-advisor`, page.getByText("order 4128")],
    [`${project}/conversations/c-parcel`, page.getByText("Step 1 of the long answer.")],
    [`${project}/conversations/none`, page.getByText("There is no such conversation here")],
    ["local/bare/traces?lens=conversations", page.getByRole("region", { name: "Code for Weave" })],
  ] as const
  expect(await flawsOfPages(page, `${heddle.url}/`, pages)).toEqual({})
  await close()
}, 180_000)
