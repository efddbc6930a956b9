/** Signing a browser in, and the rights of its cookie. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { defaultLimits } from "../../src/limits.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"
import { ownPage, TestBrowser } from "../support/browser.ts"

const day = 24 * 3600 * 1000

let opened: TestApp
beforeAll(
  async () =>
    (opened = await openTestApp({ trustedProxies: ["127.0.0.1"], limits: { ...defaultLimits, sessions_per_user: 4 } })),
)
afterAll(() => opened.close())

interface Current {
  user: { username: string }
  session: { id: string; user_agent: string; is_current: boolean } | null
  projects: { entity: string; name: string }[]
}

const whoAmI = async (browser: TestBrowser) => (await browser.page("GET", "/v1/session")).body as Current

async function signedIn(key = opened.acme.key): Promise<TestBrowser> {
  const browser = new TestBrowser(opened)
  expect((await browser.signIn(key)).status).toBe(200)
  return browser
}

/** Makes a key of acme's, for tests that revoke it. */
async function newKey(): Promise<{ id: string; value: string }> {
  return (await opened.acme.post("/v1/organization/api_keys", { name: "for a browser" })).body as never
}

describe("signing in with a key", () => {
  test("sets a cookie that no script reads and no other site sends, and says who it is", async () => {
    const browser = new TestBrowser(opened)
    await opened.acme.post("/v1/projects", { entity: "acme", name: "support" })
    const answer = await browser.signIn(opened.acme.key)
    expect(answer.setCookie).toMatch(
      /^heddle_session_[0-9a-f]{8}=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    expect(answer.body).toMatchObject({
      user: { username: "acme", entities: ["acme"] },
      session: { user_agent: "Test Browser", is_current: true },
      projects: [{ entity: "acme", name: "support" }],
    })
    expect(await whoAmI(browser)).toMatchObject({ user: { username: "acme" } })
  })

  test("over https the cookie is for https only; X-Forwarded-Proto counts from a trusted proxy alone", async () => {
    const secure = { ...ownPage, "x-forwarded-proto": "https", "x-forwarded-host": "heddle.example" }
    const request = { body: { api_key: opened.acme.key }, headers: secure }
    expect((await new TestBrowser(opened).send("POST", "/v1/session", request)).setCookie).toContain("; Secure")
    const stranger = await opened.app.server.inject({
      method: "POST",
      url: "/v1/session",
      remoteAddress: "192.0.2.7",
      headers: { ...secure, "content-type": "application/json" },
      payload: JSON.stringify(request.body),
    })
    expect([stranger.statusCode, String(stranger.headers["set-cookie"]).includes("Secure")]).toEqual([200, false])
  })

  test("a wrong key is 401 with the way out, and sets nothing", async () => {
    const answer = await new TestBrowser(opened).signIn("w".repeat(48))
    expect(answer).toMatchObject({ status: 401, setCookie: undefined, body: { error: { code: "invalid_api_key" } } })
    expect(JSON.stringify(answer.body)).toContain("the key that the server printed at its first start")
  })

  test("only the hash of the cookie is stored", async () => {
    const browser = await signedIn()
    const rows = await opened.app.stores.catalog.selectFrom("sessions").selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(browser.cookie.split("=")[1])
    expect(rows.every((row) => /^[0-9a-f]{64}$/.test(row.sha256))).toBe(true)
  })

  test("whoever signs in again has one session, not two", async () => {
    const browser = await signedIn(opened.rival.key)
    const first = (await whoAmI(browser)).session?.id
    await browser.signIn(opened.rival.key)
    const listed = (await browser.page("GET", "/v1/sessions")).body as { data: { id: string }[] }
    expect(listed.data.map(({ id }) => id)).toEqual([(await whoAmI(browser)).session?.id])
    expect(listed.data[0]?.id).not.toBe(first)
  })

  test("after ten failures of an address within a minute it has to wait, with a right key too; others do not", async () => {
    const attempt = (remoteAddress: string, key: string) =>
      opened.app.server.inject({
        method: "POST",
        url: "/v1/session",
        remoteAddress,
        headers: { ...ownPage, "content-type": "application/json" },
        payload: JSON.stringify({ api_key: key }),
      })
    for (let count = 0; count < 10; count += 1) {
      expect((await attempt("192.0.2.1", "wrong")).statusCode).toBe(401)
    }
    const refused = await attempt("192.0.2.1", opened.acme.key)
    expect(refused.statusCode).toBe(429)
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0)
    expect((await attempt("192.0.2.2", opened.acme.key)).statusCode).toBe(200)
  })

  test.each([
    ["/v1/session", "api_key"],
    ["/v1/session/token", "token"],
    ["/v1/sign-up", "token"],
  ])("law 8: %s takes no larger body of a stranger than a key or a token needs", async (url, name) => {
    const { statusCode } = await opened.app.server.inject({
      method: "POST",
      url,
      headers: { ...ownPage, "content-type": "application/json" },
      payload: JSON.stringify({ [name]: "x".repeat(100_000), username: "stranger" }),
    })
    expect(statusCode).toBe(413)
  })
})

describe("signing in with a link", () => {
  const newLink = async () => (await opened.acme.post("/v1/sign-in-links")).body as { token: string; path: string }

  test("works once, with the right of the key that made it", async () => {
    const { token, path } = await newLink()
    expect(path).toBe(`/login#token=${token}`)
    const browser = new TestBrowser(opened)
    expect((await browser.page("POST", "/v1/session/token", { token })).status).toBe(200)
    expect((await whoAmI(browser)).user.username).toBe("acme")
    const again = await new TestBrowser(opened).page("POST", "/v1/session/token", { token })
    expect(again).toMatchObject({ status: 401, setCookie: undefined })
    expect(JSON.stringify(again.body)).toContain("was used already")
  })

  test("two requests with one token at the same time: only one signs in", async () => {
    const { token } = await newLink()
    const both = [new TestBrowser(opened), new TestBrowser(opened)]
    const answers = await Promise.all(both.map((browser) => browser.page("POST", "/v1/session/token", { token })))
    expect(answers.map(({ status }) => `${status}`).toSorted()).toEqual(["200", "401"])
  })

  test("one that is older than an hour is refused", async () => {
    const { token } = await newLink()
    vi.useFakeTimers({ now: Date.now() + 3600 * 1000 + 1000, toFake: ["Date"] })
    const answer = await new TestBrowser(opened).page("POST", "/v1/session/token", { token })
    vi.useRealTimers()
    expect(answer.status).toBe(401)
  })

  test("of a user who makes many, the newest work, and the others are forgotten", async () => {
    const made = [await newLink(), await newLink(), await newLink(), await newLink(), await newLink()]
    const { catalog } = opened.app.stores
    expect(await catalog.selectFrom("sign_in_tokens").select("sha256").execute()).toHaveLength(4)
    const signIn = ({ token }: { token: string }) =>
      new TestBrowser(opened).page("POST", "/v1/session/token", { token })
    const statuses = []
    for (const link of made) statuses.push((await signIn(link)).status)
    expect(statuses).toEqual([401, 200, 200, 200, 200])
  })

  test("one that nobody has used still works when many others were made and used", async () => {
    const use = ({ token }: { token: string }) => new TestBrowser(opened).page("POST", "/v1/session/token", { token })
    const kept = await newLink()
    for (let count = 0; count < 5; count += 1) expect((await use(await newLink())).status).toBe(200)
    expect((await use(kept)).status).toBe(200)
  })

  test("a session makes none, which would outlive its end", async () => {
    const browser = await signedIn()
    expect((await browser.page("POST", "/v1/sign-in-links")).status).toBe(403)
  })

  test("the link of a key that was revoked meanwhile is worth nothing", async () => {
    const { id, value } = await newKey()
    const link = await opened.app.server.inject({
      method: "POST",
      url: "/v1/sign-in-links",
      headers: { authorization: `Bearer ${value}` },
    })
    await opened.acme.delete(`/v1/organization/api_keys/${id}`)
    const { token } = link.json() as { token: string }
    expect((await new TestBrowser(opened).page("POST", "/v1/session/token", { token })).status).toBe(401)
  })
})

describe("a session ends when", () => {
  const expectEnded = async (browser: TestBrowser) =>
    expect(await browser.page("GET", "/v1/session")).toMatchObject({
      status: 401,
      body: { error: { code: "session_ended" } },
    })

  test("its user signs out", async () => {
    const browser = await signedIn()
    const { cookie } = browser
    const answer = await browser.page("DELETE", "/v1/session")
    expect(answer).toMatchObject({ status: 200, body: { deleted: true } })
    expect(answer.setCookie).toContain("Max-Age=0")
    browser.cookie = cookie
    await expectEnded(browser)
  })

  test("its key is revoked", async () => {
    const { id, value } = await newKey()
    const browser = await signedIn(value)
    await opened.acme.delete(`/v1/organization/api_keys/${id}`)
    expect((await browser.page("GET", "/v1/session")).status).toBe(401)
  })

  test("its key has come to its end", async () => {
    const { id, value } = await newKey()
    const browser = await signedIn(value)
    const { catalog } = opened.app.stores
    await catalog
      .updateTable("api_keys")
      .set({ expires_at: new Date(0) })
      .where("id", "=", id)
      .execute()
    await expectEnded(browser)
  })

  test("its user is disabled; it lives on when the user is enabled again", async () => {
    const browser = await signedIn(opened.rival.key)
    const setDisabled = (disabled: boolean) => opened.admin.post("/v1/organization/users/rival", { disabled })
    expect((await setDisabled(true)).status).toBe(200)
    await expectEnded(browser)
    expect((await new TestBrowser(opened).signIn(opened.rival.key)).status).toBe(401)
    expect((await setDisabled(false)).status).toBe(200)
    expect((await browser.page("GET", "/v1/session")).status).toBe(200)
  })

  test("it was not used for seven days, or is thirty days old", async () => {
    const idle = await signedIn()
    const busy = await signedIn()
    const began = Date.now()
    try {
      for (let days = 6; days < 30; days += 6) {
        vi.useFakeTimers({ now: began + days * day, toFake: ["Date"] })
        expect((await busy.page("GET", "/v1/session")).status).toBe(200)
      }
      await expectEnded(idle)
      vi.useFakeTimers({ now: began + 30 * day + 1000, toFake: ["Date"] })
      await expectEnded(busy)
    } finally {
      vi.useRealTimers()
    }
  })

  test("its user ends it from another browser, or an administrator does; a stranger cannot", async () => {
    const [lost, mine, rival] = [await signedIn(), await signedIn(), await signedIn(opened.rival.key)]
    const id = (await whoAmI(lost)).session?.id
    expect((await rival.page("DELETE", `/v1/sessions/${id}`)).status).toBe(404)
    const seen = (await rival.page("GET", "/v1/sessions")).body as { data: { username: string }[] }
    expect(new Set(seen.data.map(({ username }) => username))).toEqual(new Set(["rival"]))
    expect((await mine.page("DELETE", `/v1/sessions/${id}`)).status).toBe(200)
    await expectEnded(lost)
    expect((await mine.page("DELETE", `/v1/sessions/${id}`)).status).toBe(404)
    expect((await opened.admin.delete(`/v1/sessions/${(await whoAmI(rival)).session?.id}`)).status).toBe(200)
    await expectEnded(rival)
  })

  test("it is the oldest of a user who signs in with too many browsers", async () => {
    const browsers = [await signedIn(), await signedIn(), await signedIn(), await signedIn(), await signedIn()]
    const statuses = await Promise.all(browsers.map(async (one) => (await one.page("GET", "/v1/session")).status))
    expect(statuses).toEqual([401, 200, 200, 200, 200])
  })

  test("whoever signs in again and again, and out or not, leaves no more than so many behind", async () => {
    for (let count = 0; count < 8; count += 1) {
      const browser = await signedIn()
      if (count % 2 === 0) await browser.page("DELETE", "/v1/session")
    }
    const { catalog } = opened.app.stores
    const { id } = await catalog
      .selectFrom("users")
      .select("id")
      .where("username", "=", "acme")
      .executeTakeFirstOrThrow()
    expect(await catalog.selectFrom("sessions").select("id").where("user_id", "=", id).execute()).toHaveLength(4)
  })
})

test("whoever makes and revokes keys again and again leaves the newest hundred behind, and no session of the others", async () => {
  const first = await newKey()
  const browser = await signedIn(first.value)
  await browser.send("POST", "/v1/sign-in-links", { headers: { authorization: `Bearer ${first.value}` } })
  await opened.acme.delete(`/v1/organization/api_keys/${first.id}`)
  for (let count = 0; count < 102; count += 1) {
    const { id } = await newKey()
    await opened.acme.delete(`/v1/organization/api_keys/${id}`)
  }
  await newKey()
  const { catalog } = opened.app.stores
  const ended = await catalog.selectFrom("api_keys").select("id").where("revoked_at", "is not", null).execute()
  expect(ended).toHaveLength(100)
  expect(ended.map(({ id }) => id)).not.toContain(first.id)
})

test("the record of changes says who signed in, and who ended whose session", async () => {
  const browser = await signedIn()
  const { session } = await whoAmI(browser)
  await opened.admin.delete(`/v1/sessions/${session?.id}`)
  const { body } = await opened.admin.get(`/v1/organization/audit_logs?resource_ids[]=${session?.id}`)
  const { data } = body as { data: { type: string; actor: { api_key: { user: { username: string } } } }[] }
  expect(data.map(({ type, actor }) => [type, actor.api_key.user.username])).toEqual([
    ["logout.succeeded", "admin"],
    ["login.succeeded", "acme"],
  ])
  expect(data[0]).toMatchObject({ "logout.succeeded": { id: session?.id, username: "acme" } })
})

describe("the cookie's rights", () => {
  test("a key that comes with it decides alone", async () => {
    const browser = await signedIn()
    const me = (key: string) =>
      browser.send("GET", "/v1/organization/me", { headers: { authorization: `Bearer ${key}` } })
    expect((await me(opened.rival.key)).body).toMatchObject({ username: "rival" })
    expect((await me("wrong")).status).toBe(401)
    const session = await browser.send("GET", "/v1/session", {
      headers: { authorization: `Bearer ${opened.acme.key}` },
    })
    expect(session.body).toMatchObject({ session: null })
  })

  test("reading needs nothing but the cookie", async () => {
    const browser = await signedIn()
    expect((await browser.send("GET", "/v1/organization/me")).status).toBe(200)
  })

  test.each([
    ["no header", { "sec-fetch-site": "same-origin" }],
    ["another site", { "x-heddle-csrf": "1", "sec-fetch-site": "cross-site" }],
    ["another port of this host", { "x-heddle-csrf": "1", "sec-fetch-site": "same-site" }],
    ["another origin, of an old browser", { "x-heddle-csrf": "1", origin: "http://heddle.test:3000" }],
    ["an origin that cannot be read", { "x-heddle-csrf": "1", origin: "null" }],
    ["no origin at all", { "x-heddle-csrf": "1" }],
  ])("a change is refused: %s", async (_name, headers) => {
    const browser = await signedIn()
    const send = { body: { name: "made by another page" }, headers: headers as Record<string, string> }
    const answer = await browser.send("POST", "/v1/organization/api_keys", send)
    expect([answer.status, (answer.body as { error: { code: string } }).error.code]).toEqual([403, "forbidden"])
    expect((await browser.send("POST", "/v1/session", { ...send, body: { api_key: opened.acme.key } })).status).toBe(
      403,
    )
  })

  test.each([
    ["same origin by Sec-Fetch-Site", { "sec-fetch-site": "same-origin" }],
    ["same origin by Origin, over http", { origin: "http://heddle.test:8080" }],
    [
      "behind a trusted proxy that changes the host",
      { origin: "http://heddle.example", "x-forwarded-host": "heddle.example" },
    ],
  ])("a change is done: %s", async (_name, headers) => {
    const browser = await signedIn()
    const send = { body: { name: "from a page" }, headers: { "x-heddle-csrf": "1", ...headers } }
    expect((await browser.send("POST", "/v1/organization/api_keys", send)).status).toBe(200)
  })
})
