/** Troubles under an open page: in each, the page says in place what happened and how to go on. */
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { launchServer } from "../../server/test/support/server-process.ts"
import { adminKey } from "../../server/test/support/admin-key.ts"
import { launchBrowser } from "./support/browser.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
const start = Date.parse("2026-11-20T10:00:00Z")

function callOf(project_id: string, changes: object = {}) {
  return {
    project_id,
    id: randomUUID(),
    trace_id: randomUUID(),
    op_name: "answer",
    started_at: new Date(start).toISOString(),
    ended_at: new Date(start + 1000).toISOString(),
    attributes: {},
    inputs: { question: "Hello?" },
    output: "answered",
    summary: {},
    ...changes,
  }
}

beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const send = (project: string, ...batch: object[]) => heddle.send("POST", `/v2/${project}/calls/complete`, { batch })
const firstRow = (page: Page) => page.getByRole("row").nth(1)

describe("a session that ended", () => {
  test("is asked for over the table, which goes on where it was", async () => {
    const project = "local/ended"
    await send(project, callOf(project), callOf(project, { op_name: "other" }))
    const { page, close } = await signedIn(browser, heddle, `/${project}/traces`)
    await firstRow(page).waitFor()
    await page.context().clearCookies()
    await page.getByRole("columnheader", { name: /Name/ }).getByRole("button").click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("API key").fill(heddle.key)
    await dialog.getByRole("button", { name: "Sign in" }).click()
    await dialog.waitFor({ state: "hidden" })
    await page.getByRole("link", { name: "answer", exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get("sort")).toBe("-name")
    await close()
  })
})

describe("a project that was deleted under an open page", () => {
  test.each([
    ["the table", (_trace: string) => "traces", "There is no such project here"],
    ["a trace", (trace: string) => `traces/${trace}`, "There is no such trace here"],
  ])("is told in %s, with the way on", async (_what, place, heading) => {
    const name = `gone-${randomUUID().slice(0, 8)}`
    const project = `local/${name}`
    const call = callOf(project)
    await send(project, call)
    const { page, close } = await signedIn(browser, heddle, `/${project}/${place(call.trace_id)}`)
    await page.getByText("answer", { exact: true }).first().waitFor()
    await heddle.send("DELETE", `/v1/projects/local/${name}`)
    await page.reload()
    await page.getByRole("heading", { name: heading }).waitFor()
    await page
      .getByRole("link", { name: /^(Your projects|All traces of gone-)/ })
      .first()
      .waitFor()
    await close()
  })
})

test("a call and a trace of another team look as if they were not there", async () => {
  const project = "local/secret"
  const call = callOf(project)
  await send(project, call)
  await heddle.send("POST", "/v1/organization/teams", { name: "rivals" })
  await heddle.send("POST", "/v1/organization/users", { username: "rita", teams: ["rivals"] })
  const { value: key } = await heddle.send<{ value: string }>("POST", "/v1/organization/api_keys", {
    name: "laptop",
    username: "rita",
  })
  const { page, close } = await signedIn(browser, { ...heddle, key }, "/")
  for (const address of [`traces/${call.trace_id}`, `traces/${call.trace_id}?span=${call.id}`]) {
    await page.goto(`${heddle.url}/${project}/${address}`)
    await page.getByRole("heading", { name: "There is no such trace here" }).waitFor()
  }
  await page.goto(`${heddle.url}/${project}/traces/compare?calls=${call.id},${call.id}`)
  await page
    .getByText(/could not be read|not here/)
    .first()
    .waitFor()
  await page.goto(`${heddle.url}/${project}/traces`)
  await page.getByRole("heading", { name: "There is no such project here" }).waitFor()
  // Its first page offers no first call, which only its own team could send.
  await page.goto(`${heddle.url}/${project}`)
  await page.getByRole("heading", { name: "There is no such project here" }).waitFor()
  await page.getByRole("link", { name: "Your projects" }).waitFor()
  expect(await page.getByText("Hello?").count()).toBe(0)
  await close()
})

describe("a payload that is too large", () => {
  const project = "local/large"

  test("of 60 MB is refused, and the page of refused requests says why", async () => {
    await send(project, callOf(project))
    const answer = await fetch(`${heddle.url}/v2/${project}/calls/complete`, {
      method: "POST",
      headers: { authorization: `Bearer ${heddle.key}`, "content-type": "application/json" },
      body: JSON.stringify({ batch: [callOf(project, { output: "x".repeat(60_000_000) })] }),
    })
    expect(answer.status).toBe(413)
    const { page, close } = await signedIn(browser, heddle, `/${project}/settings/refused`)
    await page.getByText("413").first().waitFor()
    await close()
  })

  test("of 10 MB is not kept: its place in the call says so with a way on, and the rest of the call is there", async () => {
    const call = callOf(project, { op_name: "wordy", output: { text: "x".repeat(10_000_000) } })
    await send(project, call)
    const { page, close } = await signedIn(browser, heddle, `/${project}/traces?q=op+is+wordy`)
    await firstRow(page).getByText("too large to keep").waitFor()
    await page.getByRole("link", { name: "wordy", exact: true }).click()
    await page.getByRole("tree", { name: "Input" }).getByText("Hello?").waitFor()
    await page.getByRole("tab", { name: "Output", exact: true }).click()
    await page.getByText("The output was too large to keep.").waitFor()
    await close()
  })
})

test("a name of 500 characters stays in its cell, and is there as a whole", async () => {
  const project = "local/long"
  const name = "x".repeat(500)
  const refused = await fetch(`${heddle.url}/v2/${project}/calls/complete`, {
    method: "POST",
    headers: { authorization: `Bearer ${heddle.key}`, "content-type": "application/json" },
    body: JSON.stringify({ batch: [callOf(project, { op_name: name })] }),
  })
  expect(refused.status).toBe(400)
  const call = callOf(project, { display_name: name })
  await send(project, call)
  const { page, close } = await signedIn(browser, heddle, `/${project}/traces`)
  await page.getByTitle(name).first().waitFor()
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(1440)
  await page.goto(`${heddle.url}/${project}/traces/${call.trace_id}`)
  await page.getByRole("heading", { name, level: 1 }).waitFor()
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(1440)
  await page.goto(`${heddle.url}/${project}/traces/${call.trace_id}?span=${"y".repeat(500)}`)
  await page.getByText("The call is not in this trace.").waitFor()
  await close()
})

/** A server on a data folder of its own, which is stopped and started on it again under the same address. */
async function restartableServer() {
  const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-restart-"))
  const env = { HEDDLE_LOG: "fatal", HEDDLE_ENGINE: "none" }
  let running = launchServer(dataDir, env)
  const stop = async () => {
    if (running.child.exitCode !== null || running.child.signalCode !== null) return
    running.child.kill("SIGTERM")
    await once(running.child, "exit")
  }
  return {
    url: () => running.url,
    stop,
    startAgain: async () => {
      const url = await running.url
      running = launchServer(dataDir, env, Number(new URL(url).port))
      expect(await running.url).toBe(url)
    },
    [Symbol.asyncDispose]: async () => {
      await stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

test("until the first page has come over a slow network, it is said that it loads", async () => {
  const project = "local/slow"
  await send(project, callOf(project))
  const { page, close } = await signedIn(browser, heddle, `/${project}`)
  let come = () => {}
  const came = new Promise<void>((resolve) => {
    come = resolve
  })
  // The frame's own script comes, that of the page does not yet.
  await page.route(/traces-page[^/]*\.js$/, async (route) => {
    await came
    await route.continue()
  })
  await page.goto(`${heddle.url}/${project}/traces`, { waitUntil: "commit" })
  const loading = page.getByText("Heddle is loading…")
  await loading.waitFor()
  come()
  await firstRow(page).waitFor()
  expect(await loading.isVisible()).toBe(false)
  await close()
})

test("a page that is gone to while the server is away opens when the server is back", async () => {
  await using server = await restartableServer()
  const url = await server.url()
  const made = await fetch(`${url}/v1/projects`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ entity: "local", name: "away" }),
  })
  expect(made.ok).toBe(true)
  const { page, close } = await signedIn(browser, { ...heddle, url, key: adminKey }, "/local/away/traces")
  await page.getByText("No traces yet").waitFor()
  await server.stop()
  await page.getByRole("link", { name: "Evaluations" }).click()
  await page.getByText("The page opens by itself when it does.").waitFor()
  expect(new URL(page.url()).pathname).toBe("/local/away/evaluations")
  await server.startAgain()
  await page.getByText("No evaluations yet").waitFor()
  await close()
  // Two starts of a server, on a machine that may be busy.
}, 180_000)

test("in a browser without room, which cannot note that it was reloaded, a page whose code is missing is reloaded by hand", async () => {
  const project = "local/full"
  await send(project, callOf(project))
  const { page, close } = await signedIn(browser, heddle, `/${project}/traces`)
  await firstRow(page).waitFor()
  await page.evaluate(`{
    let part = "x".repeat(2 ** 20)
    for (let index = 0; part !== ""; index += 1) {
      try {
        sessionStorage.setItem("full" + index, part)
      } catch {
        part = part.slice(Math.ceil(part.length / 2))
      }
    }
  }`)
  await page.route("**/*.js", (asked) => asked.abort())
  await page.getByRole("link", { name: "Evaluations" }).click()
  await page.getByText("The code of this page is not there.").waitFor()
  await page.unroute("**/*.js")
  await page.getByRole("button", { name: "Reload" }).click()
  await page.getByText("No evaluations yet").waitFor()
  await close()
})

test("when the server restarts under an open page, its data stays, and it goes on by itself", async () => {
  await using server = await restartableServer()
  const url = await server.url()
  const project = "local/again"
  const post = (op_name: string) =>
    fetch(`${url}/v2/${project}/calls/complete`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ batch: [callOf(project, { op_name })] }),
    })
  expect((await post("before")).status).toBe(200)
  const { page, close } = await signedIn(browser, { ...heddle, url, key: adminKey }, `/${project}/traces?live=1`)
  await page.getByRole("link", { name: "before", exact: true }).waitFor()
  await server.stop()
  await page.getByText("The server does not answer.").first().waitFor()
  await page.getByRole("link", { name: "before", exact: true }).waitFor()
  await server.startAgain()
  expect((await post("after")).status).toBe(200)
  await page.getByRole("link", { name: "after", exact: true }).waitFor()
  await page.getByText("The server does not answer.").first().waitFor({ state: "hidden" })
  await close()
  // Two starts of a server, on a machine that may be busy.
}, 180_000)

test("a chart whose code the server did not give says so, and is drawn when it comes", async () => {
  const { page, close } = await signedIn(browser, heddle, null)
  const code = "**/assets/plot-options-*.js"
  await page.route(code, (route) => route.fulfill({ status: 404 }))
  await page.goto(`${heddle.url}/design`)
  const late = page.getByText("The code that draws this chart did not come.").first()
  await late.waitFor()
  await page.unroute(code)
  await page.locator('[data-drawn="true"]').first().waitFor()
  await late.waitFor({ state: "detached" })
  await close()
})
