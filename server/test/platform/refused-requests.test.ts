/** The list of refused requests that a user can read. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { refusedRequestList } from "../../src/wire/platform/refused-request.ts"
import { ownPage, TestBrowser } from "../support/browser.ts"
import { type Caller, openTestApp, type TestApp } from "../support/test-app.ts"

let opened: TestApp
beforeAll(async () => (opened = await openTestApp()))
afterAll(() => opened.close())

const send = (url: string, headers: Record<string, string>) =>
  opened.app.server.inject({ method: "POST", url, headers: { "user-agent": "OpenAI/Python 2.38.0", ...headers } })
const refusedTo = async (caller: Caller) =>
  refusedRequestList.parse((await caller.get("/v1/refused-requests")).body).data

test("a user's refused requests are listed with the reason, newest first; an administrator also sees those of unknown keys", async () => {
  const missing = await send("/v1/chat/completions?secret=1", {})
  await send("/v1/chat/completions", { authorization: `Bearer ${"u".repeat(48)}` })
  await opened.rival.post("/v1/preview/models", { project: "p", name: "a b", base_model: "heddle/tiny" })
  await opened.acme.get("/chat/completions")
  expect(await refusedTo(opened.acme)).toEqual([])
  const seen = await refusedTo(opened.admin)
  expect(seen.map(({ path, status, code, is_authenticated }) => [path, status, code, is_authenticated])).toEqual([
    ["/chat/completions", 404, "not_found", false],
    ["/v1/chat/completions", 401, "invalid_api_key", false],
    ["/v1/chat/completions", 401, "invalid_api_key", false],
  ])
  expect(seen.at(-1)).toMatchObject({ id: missing.headers["x-request-id"], user_agent: "OpenAI/Python 2.38.0" })
  expect(seen.at(-1)?.message).toContain("no API key: send the header")
  expect(await refusedTo(opened.rival)).toMatchObject([
    { path: "/v1/preview/models", status: 422, is_authenticated: true },
  ])
})

test("requests of the server's own pages are left out, and at most 200 are kept", async () => {
  const before = await refusedTo(opened.admin)
  const page = new TestBrowser(opened)
  expect((await page.send("GET", "/v1/session", { headers: ownPage })).status).toBe(401)
  expect(await refusedTo(opened.admin)).toEqual(before)
  for (let count = 0; count < 210; count += 1) await send("/v1/chat/completions", {})
  expect(await refusedTo(opened.admin)).toHaveLength(200)
})
