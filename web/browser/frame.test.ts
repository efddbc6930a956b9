/** The frame around every page: theme, keys, palette, addresses, and a proxy's path. */
import { randomUUID } from "node:crypto"
import { createServer, type Server } from "node:http"
import { request } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { foreign, launchBrowser, newVisit } from "./support/browser.ts"
import { heldBack } from "./support/held-back.ts"
import { type Heddle, signedIn, signIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([
    startHeddle({ HEDDLE_ENGINE: "none", HEDDLE_PREFIX: "/heddle" }),
    launchBrowser(),
  ])
  for (const name of ["demo", "support"]) await heddle.send("POST", "/v1/projects", { entity: "local", name })
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (path = "/local/demo", options = {}) => signedIn(browser, heddle, path, options)
const darkGround = "oklch(0.172 0.01 265)"
const lightGround = "oklch(0.974 0.003 260)"
const ground = `getComputedStyle(document.body).backgroundColor`

describe("the theme", () => {
  test.each([
    ["light", lightGround],
    ["dark", darkGround],
  ] as const)("follows a system that is %s", async (colorScheme, color) => {
    const { page, close } = await open("/local/demo", { colorScheme })
    expect(await page.evaluate(ground)).toBe(color)
    await close()
  })

  test("is toggled by t, and is right from the first paint of the next visit", async () => {
    const { page, close } = await open("/local/demo", { colorScheme: "light" })
    await page.getByRole("heading", { name: "Send the first call" }).waitFor()
    await page.keyboard.press("t")
    await expect.poll(() => page.evaluate(ground)).toBe(darkGround)
    const html = await page.context().request.get(`${heddle.url}/local/demo`, { headers: { accept: "text/html" } })
    expect(await html.text()).toContain('data-theme="dark"')
    await page.keyboard.press("t")
    await expect.poll(() => page.evaluate(ground)).toBe(lightGround)
    await close()
  })
})

describe("the browser's tab", () => {
  test.each([
    ["/local/demo", "Overview · local/demo · Heddle"],
    ["/local/demo/traces", "Traces · local/demo · Heddle"],
    ["/local/demo/jobs", "Jobs · local/demo · Heddle"],
    ["/local/demo/settings/usage", "Usage · local/demo · Heddle"],
    ["/local/demo/nowhere", "No such page · local/demo · Heddle"],
  ])("at %s is called %s", async (path, title) => {
    const { page, close } = await open(path)
    await expect.poll(() => page.title()).toBe(title)
    await close()
  })

  test("follows each step, and the way back", async () => {
    const { page, close } = await open("/local/demo")
    const navigation = page.getByRole("navigation")
    await navigation.getByRole("link", { name: "Evaluations" }).click()
    await expect.poll(() => page.title()).toBe("Evaluations · local/demo · Heddle")
    await page.goBack()
    await expect.poll(() => page.title()).toBe("Overview · local/demo · Heddle")
    await close()
  })
})

describe("keys", () => {
  test("? shows every key that works, and Esc closes one layer", async () => {
    const { page, close } = await open()
    await page.getByRole("heading", { name: "Send the first call" }).waitFor()
    await page.keyboard.press("?")
    const sheet = page.getByRole("dialog", { name: "Keys" })
    for (const text of ["light or dark", "search, jump, commands", "go to Traces"])
      await sheet.getByText(text).waitFor()
    await page.keyboard.press("Escape")
    await sheet.waitFor({ state: "hidden" })
    await close()
  })

  test("g and a letter go to a page; while somebody types they are letters", async () => {
    const { page, close } = await open()
    await page.getByRole("heading", { name: "Send the first call" }).waitFor()
    await page.keyboard.press("g")
    await page.keyboard.press("t")
    await page.waitForURL("**/local/demo/traces")
    await page.getByRole("heading", { name: "Traces", exact: true }).waitFor()
    await page.goto(`${heddle.url}/`)
    await page.getByLabel("Find a project").fill("")
    await page.getByLabel("Find a project").pressSequentially("gt?")
    expect(await page.getByLabel("Find a project").inputValue()).toBe("gt?")
    expect([new URL(page.url()).pathname, await page.getByRole("dialog").count()]).toEqual(["/", 0])
    await close()
  })
})

test("the palette finds pages, projects and commands", async () => {
  const { page, close } = await open()
  await page.getByRole("heading", { name: "Send the first call" }).waitFor()
  await page.keyboard.press("Control+k")
  await page.getByRole("searchbox", { name: "Search or jump" }).fill("local/supp")
  await page.getByRole("menuitem", { name: "local/support" }).waitFor()
  await page.keyboard.press("Enter")
  await page.waitForURL("**/local/support")
  await page.getByRole("button", { name: "Search or jump" }).click()
  await page.getByRole("searchbox", { name: "Search or jump" }).fill("light or")
  await page.getByRole("menuitem", { name: "Light or dark" }).click()
  await expect.poll(() => page.evaluate(ground)).toBe(darkGround)
  // Lists that the navigation leads to by a second step.
  for (const [list, address] of [
    ["Feedback", "traces?lens=feedback"],
    ["Jobs", "jobs"],
  ] as const) {
    await page.getByRole("button", { name: "Search or jump" }).click()
    await page.getByRole("searchbox", { name: "Search or jump" }).fill(list.toLowerCase())
    await page.getByRole("menuitem", { name: new RegExp(`^${list}`) }).click()
    await page.waitForURL(`${heddle.url}/local/support/${address}`)
  }
  await close()
})

test("the palette finds what is in the project by its name, and a call by its id", async () => {
  const id = "local/support"
  await heddle.send("POST", "/obj/create", { obj: { project_id: id, object_id: "Returns-Eval", val: { rows: 3 } } })
  const [call, trace] = [randomUUID(), randomUUID().toUpperCase()]
  const shared = { project_id: id, trace_id: trace, attributes: {}, inputs: {}, output: null, summary: {} }
  const [started_at, ended_at] = ["2026-11-20T10:00:00Z", "2026-11-20T10:00:01Z"]
  const root = { ...shared, id: randomUUID(), op_name: "handle_ticket", started_at, ended_at }
  const inner = { ...shared, id: call, parent_id: root.id, op_name: "refund", started_at, ended_at }
  await heddle.send("POST", `/v2/${id}/calls/complete`, { batch: [root, inner] })
  const { page, close } = await open("/local/support")
  const find = async (text: string) => {
    await page.getByRole("button", { name: "Search or jump" }).click()
    await page.getByRole("searchbox", { name: "Search or jump" }).fill(text)
  }
  await find("returns")
  await page.getByRole("menuitem", { name: "Returns-Eval" }).click()
  await page.waitForURL("**/objects/Returns-Eval/versions/*")
  await find(`weave:///${id}/call/${call}`)
  await page.getByRole("menuitem", { name: "call or trace with this id" }).waitFor()
  await page.keyboard.press("Enter")
  await page.waitForURL(`**/local/support/traces/${trace}?span=${call}`)
  await page.getByRole("region", { name: "Selected call" }).getByRole("heading", { name: "refund" }).waitFor()
  await find(trace)
  await page.keyboard.press("Enter")
  await page.waitForURL(`**/local/support/traces/${trace}`)
  await close()
})

test("whoever has gone elsewhere when the palette finds a call stays there", async () => {
  const { page, close } = await open("/local/support")
  const id = randomUUID()
  const { came, release } = await heldBack(page, "**/calls/stream_query", (_method, body) => body.includes(id))
  await page.getByRole("button", { name: "Search or jump" }).click()
  await page.getByRole("searchbox", { name: "Search or jump" }).fill(id)
  await page.getByRole("menuitem", { name: "call or trace with this id" }).waitFor()
  await page.keyboard.press("Enter")
  await came
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Evaluations" }).click()
  await page.getByRole("heading", { name: "Evaluations", level: 1 }).waitFor()
  await release()
  expect(new URL(page.url()).pathname).toBe("/local/support/evaluations")
  await close()
})

test("the palette finds a model that is not among the newest hundred", async () => {
  const ofProject = { entity: "local", project: "stocked", base_model: "heddle/tiny" }
  const names = ["needle_Model", ...Array.from({ length: 100 }, (_, number) => `m-${number}`)]
  for (const name of names) await heddle.send("POST", "/v1/preview/models", { ...ofProject, name })
  const { page, close } = await open("/local/stocked")
  await page.getByRole("button", { name: "Search or jump" }).click()
  await page.getByRole("searchbox", { name: "Search or jump" }).fill("e_mod")
  await page.getByRole("menuitem", { name: "needle_Model" }).click()
  await page.waitForURL("**/models/needle_Model")
  await close()
})

test("what is typed while the palette opens does nothing to the page", async () => {
  const { page, close } = await open("/local/support/models")
  await page.getByText("No models yet").waitFor()
  await page.route("**/assets/palette-*.js", async (route) => {
    await sleep(500)
    await route.continue()
  })
  const before = await page.evaluate(ground)
  await page.keyboard.press("Control+k")
  await page.keyboard.press("t")
  await page.getByRole("searchbox", { name: "Search or jump" }).waitFor()
  expect(await page.evaluate(ground)).toBe(before)
  await close()
})

test("projects: from a team without a match back to all, and of very many that there are others", async () => {
  await heddle.send("POST", "/v1/organization/teams", { name: "idle" })
  const { page, close } = await open("/")
  await page.getByRole("link", { name: "support", exact: true }).waitFor()
  await page.getByLabel("Find a project").fill("demo")
  await page.getByLabel("Team", { exact: true }).selectOption("idle")
  await page.getByText("No project matches").waitFor()
  await page.getByRole("button", { name: "Show all" }).click()
  await page.getByRole("link", { name: "support", exact: true }).waitFor()
  await page.route("**/v1/projects?*", async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ json: { ...((await answer.json()) as object), has_more: true } })
  })
  await page.reload()
  await page.getByText("the others are found by a part of their names").waitFor()
  await close()
})

test("the project is switched by its menu", async () => {
  const { page, close } = await open()
  await page.getByRole("button", { name: "Project: local / demo" }).click()
  await page.getByRole("menuitem", { name: "local/support" }).click()
  await page.waitForURL("**/local/support")
  await close()
})

/**
 * False for two expected refusals: 401, who is signed in before anybody is, and 503, the health of a server without
 * engine.
 */
const isUnexpected = (complaint: string) => !/status of (401|503)/.test(complaint)

describe("addresses", () => {
  test.each([
    ["of no section", "/local/demo/tracess"],
    ["far below a section", "/local/demo/models/a/b/c/d"],
    ["of no settings", "/local/demo/settings/nothing"],
    ["of no step", "/local/demo/models/m/steps/last"],
    ["of no trajectory", "/local/demo/jobs/one/groups/first/second"],
    ["of no call", "/local/demo/r/call/none"],
  ])("an address %s is told in the frame of its project, whose pages stay at hand", async (_what, address) => {
    const { page, close } = await open(address)
    await page.getByRole("heading", { name: "There is nothing at this address" }).waitFor()
    await page.getByText(address, { exact: true }).waitFor()
    await page.getByRole("button", { name: "Project: local / demo" }).waitFor()
    await page.getByRole("link", { name: "Overview of demo" }).waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("searchbox", { name: "Search or jump" }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Traces" }).click()
    await page.getByRole("heading", { name: "Traces", exact: true }).waitFor()
    await close()
  })

  test.each([
    ["of one part", "/nowhere"],
    ["of one part and a slash", "/nowhere/"],
    ["that may be a page later", "/settings"],
    ["with too long a name", `/local/${"n".repeat(500)}`],
  ])("an address without a project, %s, is told in the frame, from which one is chosen", async (_what, address) => {
    const { page, close } = await open(address)
    await page.getByRole("heading", { name: "There is nothing at this address" }).waitFor()
    await page.getByRole("button", { name: "Choose a project" }).click()
    await page.getByRole("menuitem", { name: "local/support" }).click()
    await page.waitForURL("**/local/support")
    await page.goBack()
    await page.getByRole("link", { name: "Your projects" }).click()
    await page.getByRole("heading", { name: "Projects" }).waitFor()
    await close()
  })

  test("of two addresses that are no pages each is told", async () => {
    const { page, close } = await open("/local/demo/one")
    await page.getByText("/local/demo/one", { exact: true }).waitFor()
    await page.evaluate(`history.pushState({}, "", new URL("local/demo/two", document.baseURI))`)
    await page.evaluate(`dispatchEvent(new PopStateEvent("popstate"))`)
    await page.getByText("/local/demo/two", { exact: true }).waitFor()
    await close()
  })

  test("who is not signed in is asked for a key first, and then told", async () => {
    const { page, close } = await newVisit(browser)
    await page.goto(`${heddle.url}/nowhere`)
    await signIn(page, heddle.key)
    await page.getByRole("heading", { name: "There is nothing at this address" }).waitFor()
    await close()
  })

  test("links that the Weave SDK prints lead to the page of the same thing", async () => {
    const { page, close } = await open()
    const call = {
      project_id: "local/linked",
      id: "00000000-0000-4000-8000-000000000001",
      trace_id: "00000000-0000-4000-8000-00000000000a",
      op_name: "op",
      started_at: "2026-01-01T00:00:00Z",
      ended_at: "2026-01-01T00:00:01Z",
      attributes: {},
      inputs: {},
      output: null,
      summary: {},
    }
    await heddle.send("POST", "/v2/local/linked/calls/complete", { batch: [call] })
    await page.goto(`${heddle.url}/local/linked/r/call/${call.id}`)
    await page.waitForURL(`**/local/linked/traces/${call.trace_id}?span=${call.id}`)
    await page.goto(`${heddle.url}/local/linked/weave`)
    await page.waitForURL("**/local/linked/traces")
    await page.goto(`${heddle.url}/local/linked/weave/evaluations`)
    await page.waitForURL("**/local/linked/evaluations")
    await page.goto(`${heddle.url}/local/linked/weave/agents/conversations/thread-1`)
    await page.waitForURL("**/local/linked/conversations/thread-1")
    await page.goto(`${heddle.url}/local/linked/r/call/none`)
    await page.getByRole("heading", { name: "There is nothing at this address" }).waitFor()
    await close()
  })

  test("the link that wandb prints leads to the model of the run's name, else to the run", async () => {
    const model = { entity: "local", project: "linked-runs", name: "agent", base_model: "heddle/tiny" }
    await heddle.send("POST", "/v1/preview/models", model)
    const { page, complaints, close } = await open("/local/linked-runs/runs/w1jkb71d")
    await page.getByRole("heading", { name: "No such run" }).waitFor()
    await page.goto(`${heddle.url}/local/linked-runs/runs/agent`)
    await page.waitForURL("**/local/linked-runs/models/agent")
    await page.getByRole("heading", { name: "agent", exact: true }).waitFor()
    // What the address of a project is to the client.
    expect((await page.goto(`${heddle.url}/local/linked-runs/workspace`))?.status()).toBe(200)
    await page.waitForURL("**/local/linked-runs/runs")
    expect(complaints.filter(isUnexpected)).toEqual([])
    await close()
  })

  test("long names do not widen the page, too long ones are nowhere, and signs that addresses escape are shown as they are", async () => {
    const { page, complaints, close } = await open(`/local/${"n".repeat(500)}`)
    await page.getByRole("heading", { name: "There is nothing at this address" }).waitFor()
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(1440)
    await page.goto(`${heddle.url}/local/${"n".repeat(128)}`)
    await page.getByRole("heading", { name: "Send the first call" }).waitFor()
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(1440)
    await page.goto(`${heddle.url}/local/${encodeURIComponent("a b & ü?")}`)
    await page.getByText("local/a b & ü?", { exact: true }).first().waitFor()
    expect(complaints.filter(isUnexpected)).toEqual([])
    await close()
  })
})

describe("behind a proxy", () => {
  let proxy: Server
  let proxied: string
  beforeAll(async () => {
    // The proxy removes `/tools/ml` from the path and adds no header that says so.
    proxy = createServer((incoming, outgoing) => {
      const path = (incoming.url ?? "/").replace(/^\/tools\/ml(?=\/|$)/, "") || "/"
      const onward = request(heddle.url + path, { method: incoming.method, headers: incoming.headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      })
      incoming.pipe(onward)
    })
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
    proxied = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  })
  afterAll(() => new Promise((resolve) => proxy.close(resolve)))

  test.each([
    ["a prefix that it passes on", () => `${heddle.url}/heddle`],
    ["a path that it takes off", () => `${proxied}/tools/ml`],
  ])("every address stays under %s", async (_name, root) => {
    const { page, requests, complaints, close } = await newVisit(browser)
    await page.goto(`${root()}/local/demo/traces`)
    await signIn(page, heddle.key)
    await page.getByRole("heading", { name: "Traces", exact: true }).waitFor()
    expect(page.url()).toBe(`${root()}/local/demo/traces`)
    await page.getByRole("link", { name: "Overview" }).click()
    await page.getByRole("heading", { name: "Send the first call" }).waitFor()
    expect(page.url()).toBe(`${root()}/local/demo`)
    expect(await page.getByRole("region", { name: "Code for OpenAI" }).textContent()).toContain(`"${root()}/v1"`)
    await page.getByRole("link", { name: "Heddle, all projects" }).click()
    await page.getByRole("heading", { name: "Projects" }).waitFor()
    await page.reload()
    await page.getByRole("heading", { name: "Projects" }).waitFor()
    expect([foreign(requests, root()), complaints.filter(isUnexpected)]).toEqual([[], []])
    await close()
  })

  test("who signs in goes on to a team that is called like the prefix", async () => {
    await heddle.send("POST", "/v1/organization/teams", { name: "heddle" })
    await heddle.send("POST", "/v1/projects", { entity: "heddle", name: "demo" })
    const { page, close } = await newVisit(browser)
    await page.goto(`${heddle.url}/heddle/heddle/demo/jobs`)
    await signIn(page, heddle.key)
    await expect.poll(() => page.title()).toBe("Jobs · heddle/demo · Heddle")
    expect(page.url()).toBe(`${heddle.url}/heddle/heddle/demo/jobs`)
    await close()
  })

  test("a command that is copied from a page names the path that it takes off", async () => {
    const now = new Date().toISOString()
    const call = { project_id: "local/unpriced", id: randomUUID(), trace_id: randomUUID(), op_name: "answer" }
    const told = { attributes: {}, inputs: {}, output: {}, summary: { usage: { "our-own": { requests: 1 } } } }
    const batch = [{ ...call, ...told, parent_id: null, started_at: now, ended_at: now }]
    await heddle.send("POST", "/v2/local/unpriced/calls/complete", { batch })
    const { page, close } = await newVisit(browser)
    await page.goto(`${proxied}/tools/ml/local/unpriced/settings/usage`)
    await signIn(page, heddle.key)
    await page.getByText("Give our-own a price").click()
    const code = await page.getByRole("region", { name: "A price for our-own" }).innerText()
    expect(code).toContain(`${proxied}/tools/ml/cost/create`)
    await close()
  })
})
