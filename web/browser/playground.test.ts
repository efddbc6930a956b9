/**
 * The playground on a real engine: models side by side, tools and schemas, another way at a token, votes, rows, traces.
 */
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { flaws } from "./support/axe.ts"
import { foreign, launchBrowser, type Visit } from "./support/browser.ts"
import { type FilledProject, fillProject } from "./support/fill.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
let filled: FilledProject

beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle(), launchBrowser()])
  filled = await fillProject(heddle, "support", 1)
}, 240_000)
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (search = "", options = {}) => signedIn(browser, heddle, `/${filled.id}/playground${search}`, options)
const keys = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
const column = (page: Page, name: string) => page.getByRole("region", { name, exact: true })
const tokens = (page: Page, name: string) => column(page, name).getByRole("group", { name: "Tokens of the answer" })
const complaintsOf = ({ complaints }: Visit) => complaints.filter((text) => !text.includes("401"))
const run = (page: Page) => page.keyboard.press("Control+Enter")
/** Waits until the answers of these models are whole: then each has a button to judge it. */
const answered = async (page: Page, ...names: string[]) => {
  for (const name of names) await column(page, name).getByRole("button", { name: "Good", exact: true }).waitFor()
}

interface Call {
  id: string
  trace_id: string
  op_name: string
  inputs: { model: string; messages: object[]; [name: string]: unknown }
  summary: { weave: { feedback?: { feedback_type: string; payload: Record<string, unknown> }[] } }
}

async function calls(ids?: string[]): Promise<Call[]> {
  const answer = await fetch(`${heddle.url}/calls/stream_query`, {
    method: "POST",
    headers: { authorization: `Bearer ${heddle.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      project_id: filled.id,
      filter: ids === undefined ? { op_names: ["weave.completions_create"] } : { call_ids: ids },
      sort_by: [{ field: "started_at", direction: "desc" }],
      include_feedback: true,
      limit: 20,
    }),
  })
  const text = await answer.text()
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Call)
}

const two = "m=returns-agent@latest,heddle/tiny"

test("what is typed into the line below at first is the first message", async () => {
  const { page, close } = await open(`?${two}&temperature=0&max_tokens=6`)
  const next = page.getByLabel("Next message")
  await next.fill("2+3=")
  await run(page)
  await answered(page, "returns-agent@latest", "heddle/tiny")
  expect(await page.getByLabel("Message 1, user").inputValue()).toBe("2+3=")
  expect(await next.inputValue()).toBe("")
  await next.fill("4+4=")
  await page.getByRole("button", { name: "Send" }).click()
  await column(page, "heddle/tiny").getByText("4+4=").waitFor()
  expect(await page.getByLabel("Message 1, user").inputValue()).toBe("2+3=")
  await close()
})

describe("two models on one conversation", () => {
  test("answer side by side, with their figures and tokens, and are recorded", async () => {
    const visit = await open(`?${two}&temperature=0&max_tokens=6`)
    const { page } = visit
    await page.getByLabel("Message 1, user").fill("3+1=")
    await expect.poll(() => keys(page)["user"]).toBe("3+1=")
    await run(page)
    await answered(page, "returns-agent@latest", "heddle/tiny")
    // From now on the tab keeps the conversation, under the id in the address.
    expect(new URL(page.url()).pathname).toMatch(new RegExp(`^/${filled.id}/playground/[0-9a-f]{16}$`))
    expect(keys(page)).toEqual({ m: "returns-agent@latest,heddle/tiny", temperature: "0", max_tokens: "6" })
    for (const name of ["returns-agent@latest", "heddle/tiny"]) {
      const figures = await column(page, name).locator("dd").allInnerTexts()
      expect(figures).toEqual([
        expect.stringMatching(/ms|s$/),
        expect.stringMatching(/^\d+$/),
        expect.stringMatching(/^\d+$/),
        expect.stringMatching(/^(\d+[.,]\d|–)$/),
      ])
    }
    const first = tokens(page, "heddle/tiny").getByRole("button").first()
    expect(await first.getAttribute("aria-label")).toMatch(/, probability \d/)
    const recorded = (await calls()).slice(0, 2)
    expect(recorded.map(({ inputs }) => inputs.model).toSorted()).toEqual(["heddle/tiny", "returns-agent@latest"])
    expect(recorded[0]?.inputs).toMatchObject({ messages: [{ role: "user", content: "3+1=" }], max_tokens: 6 })
    // After a reload the tab shows the conversation again.
    await page.reload()
    await answered(page, "returns-agent@latest", "heddle/tiny")
    expect([foreign(visit.requests, heddle.url), complaintsOf(visit)]).toEqual([[], []])
    await visit.close()
  })

  test("the next message goes on from each answer; an earlier turn is changed and asked again", async () => {
    const { page, close } = await open(`?${two}&temperature=0&max_tokens=4&user=5%2B1%3D`)
    await page.getByRole("button", { name: /^Run all/ }).click()
    await answered(page, "returns-agent@latest", "heddle/tiny")
    await page.keyboard.press("i")
    await page.getByLabel("Next message").fill("6+1=")
    await run(page)
    await expect.poll(async () => (await calls())[0]?.inputs.messages.length).toBe(3)
    await answered(page, "returns-agent@latest", "heddle/tiny")
    // An edit in one column changes that one only: the other keeps its two turns.
    const own = column(page, "heddle/tiny")
    await own.getByRole("button", { name: "Edit" }).nth(1).click()
    await own.getByLabel("The user's message").fill("7+1=")
    await own.getByRole("button", { name: "Run from here" }).click()
    await expect
      .poll(async () => (await calls())[0]?.inputs)
      .toMatchObject({
        model: "heddle/tiny",
        messages: [{ content: "5+1=" }, { role: "assistant" }, { content: "7+1=" }],
      })
    await answered(page, "heddle/tiny")
    expect(await column(page, "returns-agent@latest").getByText("6+1=").count()).toBe(1)
    // A run from the prompt asks both models anew.
    await page.getByLabel("Message 1, user").fill("8+1=")
    await page.getByRole("button", { name: "Run from here" }).click()
    await expect
      .poll(async () => (await calls()).slice(0, 2).map(({ inputs }) => inputs.messages))
      .toEqual([[{ role: "user", content: "8+1=" }], [{ role: "user", content: "8+1=" }]])
    await answered(page, "returns-agent@latest", "heddle/tiny")
    expect(await own.getByText("7+1=").count()).toBe(0)
    await close()
  })

  test("another token is chosen in an answer, which goes on from there", async () => {
    const { page, close } = await open("?m=heddle/tiny&temperature=0&max_tokens=4&user=2%2B2%3D")
    await page.getByRole("button", { name: /^Run/ }).click()
    await answered(page, "heddle/tiny")
    await tokens(page, "heddle/tiny").getByRole("button").first().press("Enter")
    const inspector = page.getByRole("region", { name: "Selected token" })
    expect(await inspector.getByRole("listitem").count()).toBe(5)
    const other = inspector.getByRole("listitem").filter({ hasText: "Go on from it" }).first()
    const text = await other.locator("code").innerText()
    await other.getByRole("button", { name: "Go on from it" }).click()
    await answered(page, "heddle/tiny")
    const inputs = (await calls())[0]?.inputs
    expect(inputs).toMatchObject({ continue_final_message: true, add_generation_prompt: false })
    expect(inputs?.messages[1]).toEqual({
      role: "assistant",
      content: text.replaceAll("·", " ").replaceAll("↵", "\n"),
    })
    await close()
  })
})

test("tools are called, their results written, and an answer follows its schema", async () => {
  const { page, close } = await open("?m=heddle/tiny&temperature=0&max_tokens=60&user=Where+is+order+7?")
  await page.getByRole("button", { name: "Tools" }).click()
  const dialog = page.getByRole("dialog", { name: "Tools" })
  await dialog.getByLabel("Tools, JSON").fill("[{]")
  await dialog.getByText(/^This is no JSON/).waitFor()
  expect(await dialog.getByRole("button", { name: "Use it" }).isDisabled()).toBe(true)
  await dialog.getByRole("button", { name: "Clear" }).click()
  await dialog.getByRole("button", { name: "Begin with an example" }).click()
  await dialog.getByRole("button", { name: "Use it" }).click()
  await page.getByRole("button", { name: "1 tool" }).waitFor()

  await page.getByRole("button", { name: "Schema" }).click()
  const schema = page.getByRole("dialog", { name: "Schema of answers" })
  await schema
    .getByLabel("Schema of answers, JSON")
    .fill(
      '{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9}},"required":["n"],"additionalProperties":false}',
    )
  await schema.getByRole("button", { name: "Use it" }).click()
  await page.getByRole("button", { name: /^Run/ }).click()
  await answered(page, "heddle/tiny")
  await page.getByRole("button", { name: "Off" }).click()
  const [newest] = await calls()
  expect(newest?.inputs).toMatchObject({
    tools: [{ function: { name: "look_up_order" } }],
    response_format: { type: "json_schema", json_schema: { schema: { required: ["n"] } } },
  })
  expect(await column(page, "heddle/tiny").locator("p").allInnerTexts()).toContainEqual(
    expect.stringMatching(/^\s*\{\s*"n"\s*:\s*[1-9]\s*\}\s*$/),
  )
  await close()
})

test("a call of a recorded chat waits for its tool's result, which goes on with it", async () => {
  const id = crypto.randomUUID()
  const now = new Date().toISOString()
  const tool = { type: "function", function: { name: "look_up", parameters: { type: "object" } } }
  await heddle.send("POST", `/v2/${filled.id}/calls/complete`, {
    batch: [
      {
        project_id: filled.id,
        id,
        trace_id: id,
        op_name: "openai.chat",
        started_at: now,
        ended_at: now,
        attributes: {},
        inputs: {
          model: "heddle/tiny",
          temperature: 0.5,
          max_tokens: 4,
          tools: [tool],
          messages: [
            { role: "system", content: "Be brief." },
            { role: "user", content: "Where is order 7?" },
          ],
        },
        output: {
          choices: [
            {
              message: {
                role: "assistant",
                content: null,
                tool_calls: [{ id: "c1", type: "function", function: { name: "look_up", arguments: '{"order":7}' } }],
              },
            },
          ],
        },
        summary: {},
      },
    ],
  })
  const { page, close } = await signedIn(browser, heddle, `/${filled.id}/traces/${id}?tab=chat`)
  await page.getByRole("link", { name: "Open in playground" }).click()
  await page.waitForURL(/\/playground\/[0-9a-f]{16}\?/)
  expect(keys(page)).toEqual({ from: id, m: "heddle/tiny", temperature: "0.5", max_tokens: "4" })
  expect(await page.getByLabel("Message 1, system").inputValue()).toBe("Be brief.")
  await page.getByRole("button", { name: "1 tool" }).waitFor()
  const own = column(page, "heddle/tiny")
  await own.getByLabel("Arguments of look_up").getByText('{"order":7}').waitFor()
  await own.getByLabel("Result of look_up").fill("in Bremen")
  await own.getByRole("button", { name: "Send result" }).click()
  await expect
    .poll(async () => (await calls())[0]?.inputs.messages.at(-1))
    .toEqual({ role: "tool", content: "in Bremen", tool_call_id: "c1" })
  await answered(page, "heddle/tiny")
  await close()
})

test("a blind vote hides who answered until it is given, and is stored with both calls", async () => {
  const { page, close } = await open(`?${two}&max_tokens=3&user=4%2B4%3D`)
  await column(page, "heddle/tiny").waitFor()
  await page.keyboard.press("v")
  await page.getByRole("button", { name: "Blind vote", pressed: true }).waitFor()
  await page.getByRole("button", { name: /^Run all/ }).click()
  await answered(page, "Answer A", "Answer B")
  expect(await page.getByRole("region", { name: "heddle/tiny" }).count()).toBe(0)
  expect(await column(page, "Answer A").locator("dd").allInnerTexts()).toEqual(["hidden", "hidden", "hidden", "hidden"])
  await column(page, "Answer B").getByRole("button", { name: "Better" }).click()
  await column(page, "heddle/tiny")
    .getByText(/^(better|worse)$/)
    .waitFor()
  const judged = (await calls()).slice(0, 2)
  const votes = judged.map(({ id, summary }) => ({
    id,
    vote: summary.weave.feedback?.find(({ feedback_type: type }) => type === "playground.vote")?.payload,
  }))
  const better = votes.find(({ vote }) => vote?.["value"] === "better")
  const worse = votes.find(({ vote }) => vote?.["value"] === "worse")
  expect(better?.vote).toMatchObject({ is_blind: true, over: [worse?.id], under: [] })
  expect(worse?.vote).toMatchObject({ is_blind: true, over: [], under: [better?.id] })
  expect(await page.getByRole("button", { name: "Better" }).count()).toBe(0)
  await close()
})

test("a vote whose answer was lost counts, and is stored once for each call, whatever is pressed next", async () => {
  const { page, close } = await open(`?${two}&temperature=0&max_tokens=3&user=4%2B5%3D`)
  await page.getByRole("button", { name: /^Run all/ }).click()
  await answered(page, "returns-agent@latest", "heddle/tiny")
  await page.route(
    "**/feedback/**",
    async (route) => {
      await route.fetch()
      await route.fulfill({ status: 503, json: { reason: "busy", error_type: "server_overloaded" } })
    },
    { times: 1 },
  )
  const better = column(page, "heddle/tiny").getByRole("button", { name: "Better" })
  await better.click()
  await page.getByText("The vote was not stored.").waitFor()
  await column(page, "returns-agent@latest").getByRole("button", { name: "Better" }).click()
  await column(page, "heddle/tiny").getByText("better", { exact: true }).waitFor()
  const votes = (await calls())
    .slice(0, 2)
    .map(({ summary }) => summary.weave.feedback?.filter((one) => one.feedback_type === "playground.vote"))
  expect(votes.map((of) => of?.length)).toEqual([1, 1])
  await close()
})

test("an answer that was put right is neither marked nor voted on: its call holds another text", async () => {
  const { page, close } = await open(`?${two}&temperature=0&max_tokens=3&user=4%2B6%3D`)
  await page.getByRole("button", { name: /^Run all/ }).click()
  await answered(page, "returns-agent@latest", "heddle/tiny")
  const tiny = column(page, "heddle/tiny")
  await tiny.getByRole("button", { name: "Edit" }).click()
  await tiny.getByRole("button", { name: "Put right" }).click()
  // Nothing was changed.
  await tiny.getByRole("button", { name: "Better" }).waitFor()
  await tiny.getByRole("button", { name: "Edit" }).click()
  await tiny.getByLabel("The answer as it should be").fill("10")
  await tiny.getByRole("button", { name: "Put right" }).click()
  await tiny.getByText("10", { exact: true }).waitFor()
  expect(await tiny.getByRole("button", { name: "Good", exact: true }).count()).toBe(0)
  expect(await page.getByRole("button", { name: "Better" }).count()).toBe(0)
  await tiny.getByRole("button", { name: "To dataset" }).waitFor()
  await close()
})

test("a mark and a vote that are stored late change nothing of what was asked meanwhile", async () => {
  const { page, close } = await open(`?${two}&temperature=0&max_tokens=3&user=1%2B4%3D`)
  await page.getByRole("button", { name: /^Run all/ }).click()
  await answered(page, "returns-agent@latest", "heddle/tiny")
  let held: (() => void)[] = []
  await page.route(/\/feedback\/(batch\/)?create$/, async (route) => {
    await new Promise<void>((resolve) => held.push(resolve))
    await route.continue()
  })
  const [agent, tiny] = [column(page, "returns-agent@latest"), column(page, "heddle/tiny")]
  const traced = () => tiny.getByRole("link", { name: "trace", exact: true }).getAttribute("href")
  const before = await traced()
  await agent.getByRole("button", { name: "Good", exact: true }).click()
  await expect.poll(() => held.length).toBe(1)
  await tiny.getByRole("button", { name: "Ask again" }).click()
  await expect.poll(traced).not.toBe(before)
  const after = await traced()
  held[0]?.()
  await agent.getByRole("button", { name: "Good", pressed: true }).waitFor()
  expect(await traced()).toBe(after)

  held = []
  const equal = page.getByRole("button", { name: "No difference" })
  await equal.click()
  await expect.poll(() => held.length).toBe(1)
  await page.getByLabel("Next message").fill("2+4=")
  await run(page)
  await expect.poll(async () => (await calls())[0]?.inputs.messages.length).toBe(3)
  await answered(page, "returns-agent@latest", "heddle/tiny")
  for (const release of held) release()
  // The next answers can be judged as soon as the vote on those before is stored.
  await equal.click({ trial: true })
  for (const one of [agent, tiny]) expect(await one.getByText("2+4=").count()).toBe(1)
  await close()
})

test("an answer becomes the last row of a dataset, which names the call that it came from", async () => {
  const { page, close } = await open("?m=heddle/tiny&temperature=0&max_tokens=3&user=1%2B1%3D")
  await page.getByRole("button", { name: /^Run/ }).click()
  await answered(page, "heddle/tiny")
  const save = async (into: string) => {
    await page.getByRole("button", { name: "To dataset" }).click()
    const dialog = page.getByRole("dialog", { name: "Save as a row of a dataset" })
    if (into !== "answers") await dialog.getByLabel("Name of the new dataset").fill("answers")
    await dialog.getByRole("button", { name: "Save to answers" }).click()
    await page.getByText("The row is the last of answers.").waitFor()
  }
  await save("a new one")
  await page.getByRole("button", { name: "Go on" }).click()
  await save("answers")
  await page.getByRole("link", { name: "Open its new version" }).click()
  await page.waitForURL("**/objects/answers/versions/*")
  const { objs } = await heddle.send<{ objs: { digest: string; val: { rows: string } }[] }>("POST", "/objs/query", {
    project_id: filled.id,
    filter: { object_ids: ["answers"], latest_only: false },
  })
  expect(objs).toHaveLength(2)
  const table = objs.at(-1)?.val.rows.split("/").at(-1)
  const { rows } = await heddle.send<{ rows: { digest: string; val: { messages: object[] } }[] }>(
    "POST",
    "/table/query",
    {
      project_id: filled.id,
      digest: table,
    },
  )
  expect(rows.map(({ val }) => val.messages)).toEqual(
    Array.from({ length: 2 }, () => [
      { role: "user", content: "1+1=" },
      { role: "assistant", content: expect.any(String) },
    ]),
  )
  const { links } = await heddle.send<{ links: { source_kind: string; source_id: string }[] }>(
    "POST",
    "/dataset_sources/query",
    { project_id: filled.id, dataset_object_id: "answers" },
  )
  const [call] = await calls()
  expect(links).toMatchObject([{ source_kind: "call", source_id: call?.id }])
  await close()
})

test("a row whose answers were lost is saved once, and its call is told again", async () => {
  const { page, close } = await open("?m=heddle/tiny&temperature=0&max_tokens=3&user=1%2B2%3D")
  await page.getByRole("button", { name: /^Run/ }).click()
  await answered(page, "heddle/tiny")
  await page.getByRole("button", { name: "To dataset" }).click()
  const dialog = page.getByRole("dialog", { name: "Save as a row of a dataset" })
  await dialog.getByLabel("Dataset", { exact: true }).selectOption("A new one…")
  await dialog.getByLabel("Name of the new dataset").fill("lost-answers")
  const busy = { status: 503, json: { reason: "busy", error_type: "server_overloaded" } }
  await page.route(
    "**/obj/create",
    async (route) => {
      await route.fetch()
      await route.fulfill(busy)
    },
    { times: 1 },
  )
  await page.route("**/dataset_sources/link", (route) => route.fulfill(busy), { times: 1 })
  await dialog.getByRole("button", { name: "Save to lost-answers" }).click()
  await page.getByText("It may be saved or not: save it again.").waitFor()
  // Somebody else has added a row to it since.
  const latest = { project_id: filled.id, object_id: "lost-answers", digest: "latest" }
  const { obj: saved } = await heddle.send<{ obj: { val: { rows: string } } }>("POST", "/obj/read", latest)
  const rowsBefore = { project_id: filled.id, digest: saved.val.rows.split("/").at(-1) }
  await heddle.send("POST", `/v2/${filled.id}/datasets`, { name: "lost-answers", rows: [{ n: 1 }] })
  await dialog.getByRole("button", { name: "Save to lost-answers" }).click()
  await page.getByText("The row is the last of lost-answers.").waitFor()
  await page.getByText("The row does not name the call that it came from.").waitFor()
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByText("The row does not name the call that it came from.").waitFor({ state: "detached" })
  const { objs } = await heddle.send<{ objs: object[] }>("POST", "/objs/query", {
    project_id: filled.id,
    filter: { object_ids: ["lost-answers"], latest_only: false },
  })
  const { rows } = await heddle.send<{ rows: object[] }>("POST", "/table/query", rowsBefore)
  expect([objs.length, rows.length]).toEqual([2, 1])
  const of = { project_id: filled.id, dataset_object_id: "lost-answers" }
  const { links } = await heddle.send<{ links: { source_id: string }[] }>("POST", "/dataset_sources/query", of)
  expect(links).toMatchObject([{ source_id: (await calls())[0]?.id }])
  await close()
})

test("a row stands behind those of a dataset that somebody else made or changed meanwhile", async () => {
  const { page, close } = await open("?m=heddle/tiny&temperature=0&max_tokens=3&user=1%2B7%3D")
  const publish = (rows: object[]) => heddle.send("POST", `/v2/${filled.id}/datasets`, { name: "by-others", rows })
  await page.getByRole("button", { name: /^Run/ }).click()
  await answered(page, "heddle/tiny")
  await page.getByRole("button", { name: "To dataset" }).click()
  const dialog = page.getByRole("dialog", { name: "Save as a row of a dataset" })
  await dialog.getByLabel("Dataset", { exact: true }).selectOption("A new one…")
  await dialog.getByLabel("Name of the new dataset").fill("by-others")
  await publish([{ n: 1 }, { n: 2 }])
  await page.route(
    "**/obj/create",
    async (route) => {
      await publish([{ n: 1 }, { n: 2 }, { n: 3 }])
      await route.continue()
    },
    { times: 1 },
  )
  await dialog.getByRole("button", { name: "Save to by-others" }).click()
  await page.getByText("The row is the last of by-others.").waitFor()
  const read = { project_id: filled.id, object_id: "by-others", digest: "latest" }
  const { obj } = await heddle.send<{ obj: { val: { rows: string } } }>("POST", "/obj/read", read)
  const table = { project_id: filled.id, digest: obj.val.rows.split("/").at(-1) }
  const { rows } = await heddle.send<{ rows: { val: { n?: number; messages?: object[] } }[] }>(
    "POST",
    "/table/query",
    table,
  )
  expect(rows.map(({ val }) => val.n ?? val.messages?.length)).toEqual([1, 2, 3, 2])
  await close()
})

describe("an error stands where it belongs", () => {
  test("a model that there is not, a conversation that is too long: the other column answers", async () => {
    const { page, close } = await open("?m=heddle/none,heddle/tiny&temperature=0&max_tokens=3&user=2%2B1%3D")
    await page.getByRole("button", { name: /^Run all/ }).click()
    await column(page, "heddle/none").getByText("There is no such model here.").waitFor()
    await answered(page, "heddle/tiny")
    await page.getByLabel("Message 1, user").fill("9 ".repeat(3000))
    await page.getByRole("button", { name: "Run from here" }).click()
    const long = column(page, "heddle/tiny").getByRole("alert")
    await long.getByText("The conversation is too long for this model.").waitFor()
    expect(await long.innerText()).toMatch(/maximum context length is \d+ tokens/)
    await close()
  })

  test("a wrong parameter keeps the model from being asked", async () => {
    const { page, close } = await open("?m=heddle/tiny&user=a&temperature=3")
    await page.getByText("Temperature is a number from 0 to 2, not “3”.").waitFor()
    expect(await page.getByRole("button", { name: /^Run/ }).isDisabled()).toBe(true)
    await close()
  })

  test("a parameter that became wrong is said where the next answer would stand, and a right one is asked with", async () => {
    const { page, close } = await open("?m=heddle/tiny&temperature=0&max_tokens=3&user=2%2B2%3D")
    await page.getByRole("button", { name: /^Run/ }).click()
    await answered(page, "heddle/tiny")
    const temperature = page.getByLabel("temperature")
    await temperature.fill("abc")
    await page.getByLabel("Next message").fill("3+3=")
    await page.getByRole("button", { name: "Send" }).click()
    const failed = column(page, "heddle/tiny").getByRole("alert")
    await failed.getByText("Nothing was asked.").waitFor()
    // What was answered before would be gone.
    const again = column(page, "heddle/tiny").getByRole("button", { name: "Ask again" })
    expect([await again.first().isDisabled(), await again.last().isDisabled()]).toEqual([true, false])
    expect(await failed.innerText()).toContain("Temperature is a number from 0 to 2, not “abc”.")
    await temperature.fill("1")
    await temperature.press("Enter")
    await expect.poll(() => keys(page)["temperature"]).toBe("1")
    await failed.getByRole("button", { name: "Ask again" }).click()
    await answered(page, "heddle/tiny")
    await close()
  })

  test("a conversation of another tab is not there, and the page says so", async () => {
    const { page, close } = await open("/0123456789abcdef")
    await page.getByRole("heading", { name: "This conversation is not in this tab" }).waitFor()
    await page.getByRole("link", { name: "New conversation" }).click()
    await page.getByLabel("Message 1, user").waitFor()
    await close()
  })
})

/** So long that they still stream when what stops them is clicked: nearly all that the model takes. */
async function wantLongAnswers(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Schema" }).click()
  const schema = page.getByRole("dialog", { name: "Schema of answers" })
  await schema.getByLabel("Schema of answers, JSON").fill('{"type":"string","minLength":1800}')
  await schema.getByRole("button", { name: "Use it" }).click()
}

test("an answer that is streaming can be stopped, and its text so far stays", async () => {
  const { page, close } = await open("?m=heddle/tiny&user=Tell+me+everything")
  await wantLongAnswers(page)
  await page.getByRole("button", { name: /^Run/ }).click()
  // A request that is taken back before the server has it leaves no call.
  await tokens(page, "heddle/tiny").getByRole("button").first().waitFor()
  await column(page, "heddle/tiny").getByRole("button", { name: "Stop" }).click()
  await column(page, "heddle/tiny").getByText("Stopped here.").waitFor()
  const [newest] = await calls()
  await expect.poll(async () => (await calls([newest?.id ?? ""]))[0]).toMatchObject({ exception: expect.any(String) })
  await close()
})

test("a column that is taken away while all answer leaves the others the answers of their own models", async () => {
  const { page, close } = await open(`?${two}&user=Tell+me+everything`)
  await wantLongAnswers(page)
  await page.getByRole("button", { name: /^Run all/ }).click()
  for (const name of ["returns-agent@latest", "heddle/tiny"])
    await tokens(page, name).getByRole("button").first().waitFor()
  await page.getByRole("button", { name: "Take returns-agent@latest away" }).click()
  const left = column(page, "heddle/tiny")
  await left.getByText("Stopped here.").waitFor()
  await page.getByRole("button", { name: "Run", exact: true }).waitFor()
  const href = await left.getByRole("link", { name: "trace", exact: true }).getAttribute("href")
  const recorded = new URL(href ?? "", heddle.url).searchParams.get("span") ?? ""
  await expect.poll(async () => (await calls([recorded]))[0]?.inputs.model).toBe("heddle/tiny")
  await close()
})

test("without a choice a model that has learnt is asked, and from then on the one that was asked last", async () => {
  // Newer than the model that has learnt, and it has learnt nothing.
  await heddle.send("POST", "/v1/preview/models", { project: filled.project, name: "blank", base_model: "heddle/tiny" })
  const { page, close } = await open("?temperature=0&max_tokens=3")
  const trained = column(page, "returns-agent@latest")
  await trained.waitFor()
  await page.getByLabel("Message 1, user").fill("3+1=")
  // Whoever gets the address sees the same model.
  await expect
    .poll(() => keys(page))
    .toEqual({ m: "returns-agent@latest", user: "3+1=", temperature: "0", max_tokens: "3" })
  await trained.getByRole("button", { name: "returns-agent@latest", exact: true }).click()
  await page.getByRole("searchbox", { name: "Model or step" }).fill("heddle/tiny")
  await page.getByRole("menuitem").filter({ hasText: "base model" }).click()
  await page.getByRole("button", { name: /^Run/ }).click()
  await answered(page, "heddle/tiny")
  await page.goto(`${heddle.url}/${filled.id}/playground`)
  await column(page, "heddle/tiny").waitFor()
  await close()
  // Another browser has asked nothing yet.
  const other = await open()
  await column(other.page, "returns-agent@latest").waitFor()
  await other.close()
})

test("texts that end an answer stay as they were written, bars, spaces and commas, when the page is read again", async () => {
  const { page, close } = await open("?m=heddle/tiny")
  const stop = page.getByLabel("stop")
  const written = "a, | ,b | <|im_end|> | \\nUser: "
  await stop.fill(written)
  await stop.press("Enter")
  await page.waitForURL((url) => url.searchParams.has("stop"))
  const address = page.url()
  await page.reload()
  await stop.waitFor()
  expect(await stop.inputValue()).toBe(written)
  await stop.focus()
  await page.getByLabel("temperature").focus()
  expect(page.url()).toBe(address)
  await close()
})

test("a link is not offered to what no address holds and no call has", async () => {
  const { page, close } = await open("?m=heddle/tiny&max_tokens=3")
  const link = page.getByRole("button", { name: "Copy link" })
  const message = page.getByLabel("Message 1, user")
  await message.fill("9 ".repeat(800))
  await expect.poll(() => link.isDisabled()).toBe(true)
  await message.fill("9")
  await expect.poll(() => link.isDisabled()).toBe(false)
  await close()
})

test("a parameter keeps the focus when it is set", async () => {
  const { page, close } = await open("?m=heddle/tiny&user=a")
  const field = page.getByLabel("temperature")
  await field.fill("0.5")
  await field.press("Enter")
  await expect.poll(() => keys(page)["temperature"]).toBe("0.5")
  expect(await field.evaluate((one) => one.ownerDocument.activeElement === one)).toBe(true)
  await close()
})

test("whoever leaves while the address waits for the end of the typing is not called back", async () => {
  const { page, close } = await open("?m=heddle/tiny")
  const prompt = page.getByLabel("Message 1, user")
  await prompt.waitFor()
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000)
  await prompt.fill("half a")
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Traces" }).click()
  await prompt.waitFor({ state: "detached" })
  await page.clock.runFor(5_000)
  expect(new URL(page.url()).pathname).toBe(`/${filled.id}/traces`)
  await close()
})

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { page, close } = await open(`?${two}&temperature=0&max_tokens=12&user=5%2B2%3D`)
  await page.getByRole("button", { name: /^Run all/ }).click()
  await answered(page, "returns-agent@latest", "heddle/tiny")
  await tokens(page, "heddle/tiny").getByRole("button").first().press("Enter")
  await page.getByRole("region", { name: "Selected token" }).waitFor()
  expect(await flaws(page)).toEqual([])
  await page.getByRole("button", { name: "To dataset" }).first().click()
  // While it changes to what can be pressed, its colours are nobody's.
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Save to/, disabled: false })
    .waitFor()
  expect(await flaws(page)).toEqual([])
  await close()
})
