/** The page of the first run, which turns by itself when the first call of a real client comes. */
import { execFile } from "node:child_process"
import path from "node:path"
import { promisify } from "node:util"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { foreign, launchBrowser } from "./support/browser.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle(), launchBrowser()])
  // The page asks the system check, which is an error in its console while the engine starts.
  await vi.waitFor(() => heddle.send("GET", "/v1/system-check"), { timeout: 60_000, interval: 100 })
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const script = path.resolve(import.meta.dirname, "../../compat/node/first-call.ts")

/** Sends a call with the unmodified npm client, with the key that the page made. */
const clientCalls = (client: string, key: string, project: string) =>
  promisify(execFile)(process.execPath, [script, client, heddle.url, key, project])

async function otlp(key: string, project: string): Promise<void> {
  const span = {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    name: "checkout",
    startTimeUnixNano: `${Date.now()}000000`,
    endTimeUnixNano: `${Date.now() + 20}000000`,
  }
  const answer = await fetch(`${heddle.url}/v1/traces`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, project_id: project, "content-type": "application/json" },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
  })
  expect(answer.status).toBe(200)
}

test.each([
  ["openai", "OpenAI", "1 chat request"],
  ["weave", "Weave", "First call: answer"],
  ["otel", "OpenTelemetry", "First call: checkout"],
])(
  "%s: the code is filled with a fresh key, and the page turns when its first call comes",
  async (client, tab, first) => {
    const project = `local/first-${client}`
    const { page, requests, complaints, close } = await signedIn(browser, heddle, `/${project}`)
    await page.getByRole("heading", { name: "Send the first call" }).waitFor()
    await page.getByRole("tab", { name: tab }).click()
    const code = page.getByRole("region", { name: `Code for ${tab}` })
    for (const text of [heddle.url, project, "YOUR_API_KEY"]) expect(await code.textContent()).toContain(text)
    await page.getByRole("button", { name: "Make a key" }).click()
    await page.getByRole("button", { name: "Show", exact: true }).click()
    const key = await page.getByText(/^[A-Za-z0-9]{48}$/).textContent()
    expect(await code.textContent()).toContain(key)
    expect(client === "openai" ? "" : new URL(page.url()).search).toBe(client === "openai" ? "" : `?client=${client}`)

    await (client === "otel" ? otlp(key ?? "", project) : clientCalls(client, key ?? "", project))
    await page.getByRole("heading", { name: "The first call is stored" }).waitFor()
    await page.getByText(first).waitFor()
    await page.getByRole("button", { name: "Open the overview" }).click()
    await page.getByRole("navigation", { name: "The loop" }).waitFor()
    expect([foreign(requests, heddle.url), complaints.filter((text) => !text.includes("401"))]).toEqual([[], []])
    await close()
  },
)

test("a request that is refused stands there with the reason", async () => {
  const { page, close } = await signedIn(browser, heddle, "/local/first-refused")
  await page.getByRole("heading", { name: "Send the first call" }).waitFor()
  const answer = await fetch(`${heddle.url}/v1/chat/completions`, { method: "POST", body: "{}" })
  expect(answer.status).toBe(401)
  await page.getByText("Refused with 401: POST /v1/chat/completions", { exact: true }).waitFor()
  await page.getByText("no API key: send the header").first().waitFor()
  // A client that tries again is told once.
  await fetch(`${heddle.url}/v1/chat/completions`, { method: "POST", body: "{}" })
  await page.getByText("Refused with 401: POST /v1/chat/completions ×2", { exact: true }).waitFor()
  expect(await page.getByText("Refused with 401: POST /v1/chat/completions").count()).toBe(1)
  await close()
})

test("the call can be sent from the page itself, in a project of any letters", async () => {
  const { page, close } = await signedIn(browser, heddle, "/local/プロジェクト")
  await page.getByRole("button", { name: "Send this call from here" }).click()
  await page.getByText("heddle/tiny answered:").waitFor()
  await page.getByRole("heading", { name: "The first call is stored" }).waitFor()
  await close()
})
