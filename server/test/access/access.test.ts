import { sql } from "kysely"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Route } from "../../src/http/route.ts"
import { TestBrowser } from "../support/browser.ts"
import { groupsOf, newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
beforeAll(async () => (opened = await openTrainingApp()))
afterAll(() => opened.close())

const filled = (route: Route, ids: Record<string, string> = {}) =>
  route.path
    .replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? "5f0c3a80-0000-4000-8000-000000000000")
    .replace("*", "x")

const inject = (route: Route, headers: Record<string, string>) =>
  opened.app.server.inject({ method: route.method, url: filled(route), headers })

describe("law 5: every route has its access rule", () => {
  test("no two routes are the same, and the list is the server's", () => {
    const names = opened.app.routes.map((route) => `${route.method} ${route.path}`)
    expect(new Set(names).size).toBe(names.length)
    for (const route of opened.app.routes) {
      expect(opened.app.server.hasRoute({ method: route.method, url: route.path })).toBe(true)
    }
    expect(names).toEqual(
      expect.arrayContaining([
        "POST /v1/preview/models",
        "POST /v1/files",
        "DELETE /v1/organization/api_keys/:api_key_id",
      ]),
    )
  })

  test("the public routes are exactly those of a short list", () => {
    const open = opened.app.routes.filter((route) => route.access === "public").map((route) => route.path)
    expect(open.toSorted()).toEqual([
      "/artifactsV2/direct/:token",
      "/artifactsV2/upload/:token",
      "/files/direct/:token",
      "/files/download/:token",
      "/files/upload/:token",
      "/health",
      "/server_info",
      "/v1/health",
      "/v1/preview/base-models",
      "/v1/session",
      "/v1/session/token",
      "/v1/sign-up",
      "/v1/system-check",
    ])
  })

  test("without a key, with an unknown one, with a broken header: 401 and nothing else", async () => {
    const unknown = "u".repeat(48)
    const headers = [
      {},
      { authorization: `Bearer ${unknown}` },
      { authorization: `Basic ${Buffer.from(`api:${unknown}`).toString("base64")}` },
      { authorization: "Bearer" },
      { authorization: opened.acme.key },
    ]
    for (const route of opened.app.routes.filter((each) => each.access !== "public")) {
      for (const header of headers) {
        const answer = await inject(route, header)
        expect([route.method, route.path, answer.statusCode]).toEqual([route.method, route.path, 401])
      }
    }
  })

  test("training-api 1.4: the 401 without a key names the ART versions that forget it to ART's client only", async () => {
    const detailFor = async (headers: Record<string, string>) => {
      const answer = await opened.app.server.inject({ method: "GET", url: "/v1/preview/training-jobs/x", headers })
      expect(answer.statusCode).toBe(401)
      return (answer.json() as { detail: string }).detail
    }
    const plain = "no API key: send the header 'Authorization: Bearer <key>'"
    expect(await detailFor({ "user-agent": "Client/Python 2.40.0" })).toContain("openpipe-art was given a key: 0.5.17")
    expect(await detailFor({ "user-agent": "curl/8.5.0" })).toBe(plain)
    expect(await detailFor({ "user-agent": "AsyncOpenAI/Python 2.54.0" })).toBe(plain)
    expect(await detailFor({})).toBe(plain)
  })

  test("an administrator's routes refuse everybody else: 403", async () => {
    for (const route of opened.app.routes.filter((each) => each.access === "admin")) {
      const answer = await inject(route, { authorization: `Bearer ${opened.acme.key}` })
      expect([route.path, answer.statusCode]).toEqual([route.path, 403])
    }
  })

  test("public routes answer with and without a key (training-api 1.1)", async () => {
    for (const headers of [{}, { authorization: `Bearer ${opened.acme.key}` }, { authorization: "Bearer wrong" }]) {
      const answer = await opened.app.server.inject({
        method: "GET",
        url: "/v1/health",
        headers: headers as Record<string, string>,
      })
      expect(answer.statusCode).toBe(200)
    }
  })

  test("security 5.2: no answer behind a key may be kept by a cache, and none may be taken for another type", async () => {
    const project_id = "acme/cached"
    await opened.acme.post("/obj/create", { obj: { project_id, object_id: "o", val: 1 } })
    const stream = await opened.app.server.inject({
      method: "POST",
      url: "/calls/stream_query",
      headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/json" },
      payload: { project_id },
    })
    expect([stream.statusCode, stream.headers["cache-control"]]).toEqual([200, "no-store"])
    for (const route of opened.app.routes) {
      const expected = [route.path, route.access === "public" ? undefined : "no-store", "nosniff"]
      for (const headers of [{}, { authorization: `Bearer ${opened.acme.key}` }]) {
        const answer = await inject(route, headers)
        const { "cache-control": cache, "x-content-type-options": sniffing } = answer.headers
        expect([route.path, cache, sniffing]).toEqual(expected)
      }
    }
  })

  test("answers to unknown and unreadable paths have the same headers", async () => {
    for (const url of ["/no/such/path", "/docs/", "/openapi.json", "/v1/models/%ED%A0%80", "/%zz"]) {
      const { headers } = await opened.app.server.inject({ method: "GET", url })
      expect([url, headers["x-content-type-options"]]).toEqual([url, "nosniff"])
      expect(headers["x-request-id"]).toMatch(/^req_/)
    }
  })

  test("training-api 5.1: Bearer and Basic api:<key> both work", async () => {
    const basic = `Basic ${Buffer.from(`api:${opened.acme.key}`).toString("base64")}`
    const answer = await opened.app.server.inject({
      method: "GET",
      url: "/v1/organization/me",
      headers: { authorization: basic },
    })
    expect(answer.json()).toMatchObject({ username: "acme" })
  })
})

/** A digest of each table's rows, without the times at which keys and sessions were used last. */
async function catalogDigests({ app }: TrainingApp): Promise<Record<string, string>> {
  const { catalog } = app.stores
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'`.execute(catalog)
  const digests: Record<string, string> = {}
  for (const { name } of tables.rows) {
    const { rows } = await sql<{ digest: string }>`
      select md5(coalesce(string_agg(row::text, ',' order by row::text), '')) as digest
      from (select to_jsonb(t) - 'last_used_at' as row from ${sql.table(name)} t) as rows`.execute(catalog)
    digests[name] = rows[0]?.digest ?? ""
  }
  return digests
}

describe("a browser's cookie", () => {
  test("on every route: a request that may change something needs the header of an own page, else 403", async () => {
    const browser = new TestBrowser(opened)
    await browser.signIn(opened.acme.key)
    const changing = opened.app.routes.filter((route) => route.method !== "GET" && route.access !== "public")
    expect(changing.length).toBeGreaterThan(100)
    for (const route of changing) {
      const bare = await browser.send(route.method, filled(route))
      const foreign = await browser.send(route.method, filled(route), {
        headers: { "x-heddle-csrf": "1", "sec-fetch-site": "cross-site" },
      })
      expect([route.method, route.path, bare.status, foreign.status]).toEqual([route.method, route.path, 403, 403])
    }
  })

  test("no GET changes anything in the catalog", async () => {
    const browser = new TestBrowser(opened)
    await browser.signIn(opened.acme.key)
    const before = await catalogDigests(opened)
    expect(Object.keys(before).length).toBeGreaterThan(20)
    for (const route of opened.app.routes.filter(({ method }) => method === "GET")) {
      await browser.send("GET", filled(route))
      await opened.acme.get(filled(route))
    }
    expect(await catalogDigests(opened)).toEqual(before)
  })

  test("on every route: a session that has ended is 401", async () => {
    const browser = new TestBrowser(opened)
    await browser.signIn(opened.acme.key)
    const { cookie } = browser
    await browser.page("DELETE", "/v1/session")
    for (const route of opened.app.routes.filter((each) => each.access !== "public")) {
      browser.cookie = cookie
      const answer = await browser.page(route.method, filled(route))
      expect([route.method, route.path, answer.status]).toEqual([route.method, route.path, 401])
    }
  })

  test("an administrator's routes refuse the session of everybody else: 403", async () => {
    const browser = new TestBrowser(opened)
    await browser.signIn(opened.acme.key)
    for (const route of opened.app.routes.filter((each) => each.access === "admin")) {
      const answer = await browser.page(route.method, filled(route))
      expect([route.path, answer.status]).toEqual([route.path, 403])
    }
  })
})

describe("security 5.3: one tenant cannot reach what another has", () => {
  test("every route that names something of acme answers 404 to rival, and changes nothing", async () => {
    const { id: modelId } = await newModel(opened.acme)
    const job = await opened.acme.post("/v1/preview/training-jobs", {
      model_id: modelId,
      trajectory_groups: groupsOf([0, 1]),
    })
    const key = await opened.acme.post("/v1/organization/api_keys", { name: "second" })
    const ids = {
      model_id: modelId,
      step: "0",
      training_job_id: (job.body as { id: string }).id,
      group: "0",
      index: "0",
      api_key_id: (key.body as { id: string }).id,
    }
    const naming = opened.app.routes.filter((route) => /:(model_id|training_job_id|api_key_id)\b/.test(route.path))
    expect(naming.length).toBeGreaterThanOrEqual(7)
    for (const route of naming) {
      const payload = { steps: [0], split: "val", trajectory_groups: [] }
      const answer = await opened.app.server.inject({
        method: route.method,
        url: filled(route, ids),
        headers: { authorization: `Bearer ${opened.rival.key}`, "content-type": "application/json" },
        ...(route.method === "GET" ? {} : { payload: JSON.stringify(payload) }),
      })
      expect([route.method, route.path, answer.statusCode]).toEqual([route.method, route.path, 404])
    }
    // The team's job may have ended meanwhile and have added a step.
    expect((await opened.acme.get(`/v1/preview/models/${modelId}/checkpoints`)).body).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ step: 0 })]),
    })
  })
})

describe("API keys", () => {
  test("a new key is shown once, works, is listed without itself, and is dead the moment it is revoked", async () => {
    const made = await opened.acme.post("/v1/organization/api_keys", { name: "mine" })
    const { id, value } = made.body as { id: string; value: string }
    expect(value).toMatch(/^[A-Za-z0-9]{48}$/)
    const me = () =>
      opened.app.server.inject({
        method: "GET",
        url: "/v1/organization/me",
        headers: { authorization: `Bearer ${value}` },
      })
    expect((await me()).statusCode).toBe(200)
    const list = await opened.acme.get("/v1/organization/api_keys")
    expect(JSON.stringify(list.body)).not.toContain(value)
    expect(list.body).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({ id, name: "mine", redacted_value: `…${value.slice(-4)}` }),
      ]),
    })
    expect((await opened.acme.delete(`/v1/organization/api_keys/${id}`)).status).toBe(200)
    expect((await me()).statusCode).toBe(401)
    expect((await opened.acme.delete(`/v1/organization/api_keys/${id}`)).status).toBe(404)
  })

  test("keys are stored hashed", async () => {
    const rows = await opened.app.stores.catalog.selectFrom("api_keys").selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(opened.acme.key)
    expect(rows.every((row) => /^[0-9a-f]{64}$/.test(row.sha256))).toBe(true)
  })

  test("a user sees and makes only their own; an administrator makes keys for others", async () => {
    const seen = (await opened.acme.get("/v1/organization/api_keys")).body as { data: { username: string }[] }
    expect(new Set(seen.data.map((key) => key.username))).toEqual(new Set(["acme"]))
    expect((await opened.acme.post("/v1/organization/api_keys", { name: "x", username: "rival" })).status).toBe(403)
    expect((await opened.admin.post("/v1/organization/api_keys", { name: "x", username: "nobody" })).status).toBe(404)
    expect((await opened.admin.post("/v1/organization/api_keys", { name: "x", username: "rival" })).status).toBe(200)
  })
})

describe("teams", () => {
  test("a member may make models in the team's entity until taken out", async () => {
    const create = () =>
      opened.acme.post("/v1/preview/models", {
        entity: "shared",
        project: "p",
        name: "m",
        base_model: "heddle/tiny",
        return_existing: true,
      })
    expect((await opened.admin.post("/v1/organization/teams", { name: "shared" })).status).toBe(200)
    expect((await create()).status).toBe(403)
    await opened.admin.post("/v1/organization/teams/shared/members", { username: "acme" })
    expect(await create()).toMatchObject({ status: 200, body: { entity: "shared" } })
    await opened.admin.delete("/v1/organization/teams/shared/members/acme")
    expect((await create()).status).toBe(403)
  })

  test("taken names: 409; unknown teams: 422; U+0000: no 5xx", async () => {
    expect((await opened.admin.post("/v1/organization/teams", { name: "acme" })).status).toBe(409)
    expect((await opened.admin.post("/v1/organization/users", { username: "acme" })).status).toBe(409)
    const answer = await opened.admin.post("/v1/organization/users", { username: "new", teams: ["absent"] })
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "teams", 0] }] } })
    expect((await opened.admin.post("/v1/organization/teams/%00/members", { username: "\u0000" })).status).toBeLessThan(
      500,
    )
  })
})
