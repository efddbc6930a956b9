/** The record of changes, and the life of keys and users. */
import { sql } from "kysely"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { removeAuditLogs } from "../../src/storage/catalog/accounts/audit-logs.ts"
import { auditLogPage } from "../../src/wire/platform/audit-log.ts"
import { must } from "../support/answers.ts"
import { completedCall, uuid } from "../support/completed-call.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import type { Answer } from "../support/test-app.ts"

let opened: EvaluationApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  acme = opened.acme
})
afterAll(() => opened.close())

const admin = () => opened.admin

async function logs(query = "") {
  const answer = await admin().get(`/v1/organization/audit_logs?limit=100${query}`)
  expect(answer).toMatchObject({ status: 200 })
  return auditLogPage.parse(answer.body).data
}

/** Runs `act`; returns the entries that it added, oldest first. */
async function entriesOf(act: () => Promise<{ status: number; headers: Record<string, unknown> }>) {
  const before = new Set((await logs()).map(({ id }) => id))
  const answer = await act()
  expect([answer.status, answer]).toEqual([200, answer])
  const entries = (await logs()).filter(({ id }) => !before.has(id)).toReversed()
  for (const entry of entries) expect(entry.request_id).toBe(answer.headers["x-request-id"])
  return entries
}

describe("every change leaves its entry", () => {
  test("users, teams and who belongs to them", async () => {
    const me = (await admin().get("/v1/organization/me")).body as { id: string }
    const [added] = await entriesOf(() => admin().post("/v1/organization/users", { username: "ada", teams: ["acme"] }))
    expect(added).toMatchObject({
      type: "user.added",
      outcome: "succeeded",
      actor: { type: "api_key", api_key: { type: "user", user: { id: me.id, username: "admin" } } },
      team: null,
      "user.added": { username: "ada", is_admin: false, teams: ["acme"] },
    })
    const ada = (added as unknown as { "user.added": { id: string } })["user.added"].id
    const team = () => admin().post("/v1/organization/teams", { name: "lab" })
    expect(await entriesOf(team)).toMatchObject([
      { type: "team.created", team: "lab", "team.created": { name: "lab" } },
    ])
    const join = () => admin().post("/v1/organization/teams/lab/members", { username: "ada" })
    expect(await entriesOf(join)).toMatchObject([
      { type: "team.member_added", team: "lab", "team.member_added": { id: ada, username: "ada" } },
    ])
    expect(await entriesOf(join)).toEqual([])
    const leave = () => admin().delete("/v1/organization/teams/lab/members/ada")
    expect(await entriesOf(leave)).toMatchObject([{ type: "team.member_removed", team: "lab" }])
    expect(await entriesOf(leave)).toEqual([])
    const disable = () => admin().post("/v1/organization/users/ada", { disabled: true })
    expect(await entriesOf(disable)).toMatchObject([
      { type: "user.updated", "user.updated": { id: ada, username: "ada", disabled: true } },
    ])
    expect(await entriesOf(disable)).toEqual([])
  })

  test("keys, without the key", async () => {
    let made: Answer | undefined
    const [created] = await entriesOf(async () => (made = await acme.post("/v1/organization/api_keys", { name: "ci" })))
    const { id, value } = (made as Answer).body as { id: string; value: string }
    expect(created).toMatchObject({ type: "api_key.created", "api_key.created": { id, name: "ci", username: "acme" } })
    const [deleted] = await entriesOf(() => acme.delete(`/v1/organization/api_keys/${id}`))
    expect(deleted).toMatchObject({ type: "api_key.deleted", "api_key.deleted": { id, name: "ci", username: "acme" } })
    expect((await acme.delete(`/v1/organization/api_keys/${id}`)).status).toBe(404)
    const rows = await opened.app.stores.catalog.selectFrom("audit_logs").selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(value)
    expect(JSON.stringify(rows)).not.toContain(value.slice(-8))
  })

  test("models and checkpoints; deleting again is no change", async () => {
    const model = { project: "p", name: "m", base_model: "heddle/tiny" }
    const { id } = (await must(acme.post("/v1/preview/models", model))).body as { id: string }
    const checkpoint = () => acme.delete(`/v1/preview/models/${id}/checkpoints`, { steps: [0, 7] })
    expect(await entriesOf(checkpoint)).toMatchObject([
      { type: "checkpoint.deleted", team: "acme", "checkpoint.deleted": { id, project: "p", name: "m", steps: [0] } },
    ])
    expect(await entriesOf(checkpoint)).toEqual([])
    const deletion = () => acme.delete(`/v1/preview/models/${id}`)
    expect(await entriesOf(deletion)).toMatchObject([
      { type: "model.deleted", team: "acme", "model.deleted": { id, project: "p", name: "m" } },
    ])
    expect(await entriesOf(deletion)).toEqual([])
  })

  test("an object of many versions: a hundred are named, and all counted", async () => {
    const project_id = acme.newProject()
    const publish = (val: number) => acme.post("/obj/create", { obj: { project_id, object_id: "many", val } })
    for (let version = 0; version < 101; version++) await must(publish(version))
    const [entry] = await entriesOf(() => acme.post("/obj/delete", { project_id, object_id: "many" }))
    const { digests, count } = (entry ?? expect.unreachable())["object.deleted"] as { digests: string[]; count: number }
    expect([new Set(digests).size, digests.length, count]).toEqual([100, 100, 101])
  })

  test("objects and queues", async () => {
    const project_id = acme.newProject()
    const project = project_id.split("/")[1]
    const obj = { project_id, object_id: "secret-plan", val: { text: "payload that stays out" } }
    const { digest } = (await must(acme.post("/obj/create", { obj }))).body as { digest: string }
    expect(await entriesOf(() => acme.post("/obj/delete", { project_id, object_id: "secret-plan" }))).toMatchObject([
      {
        type: "object.deleted",
        team: "acme",
        "object.deleted": { id: "secret-plan", project, digests: [digest], count: 1 },
      },
    ])
    const queue = { project_id, name: "reviews", scorer_refs: [] }
    const { id } = (await must(acme.post("/annotation_queues", queue))).body as { id: string }
    const deletion = () => acme.delete(`/annotation_queues/${id}?project_id=${encodeURIComponent(project_id)}`)
    expect(await entriesOf(deletion)).toMatchObject([
      { type: "annotation_queue.deleted", team: "acme", "annotation_queue.deleted": { id, name: "reviews", project } },
    ])
  })

  test("calls, feedback and costs, which lie outside of the catalog, have one entry before and one after", async () => {
    const project_id = acme.newProject()
    const batch = [completedCall(project_id, { id: 1 }), completedCall(project_id, { id: 2, parent: 1 })]
    await must(acme.post(`/v2/${project_id}/calls/complete`, { batch }))
    const calls = await entriesOf(() => acme.post("/calls/delete", { project_id, call_ids: [uuid(1)] }))
    expect(calls.map(({ type, outcome }) => `${type} ${outcome}`)).toEqual([
      "call.deleted begun",
      "call.deleted succeeded",
    ])
    expect(calls[1]).toMatchObject({ team: "acme", "call.deleted": { id: project_id, ids: [uuid(1)], count: 2 } })

    const feedback = {
      project_id,
      weave_ref: `weave:///${project_id}/call/${uuid(2)}`,
      feedback_type: "custom",
      payload: {},
    }
    const { id } = (await must(acme.post("/feedback/create", feedback))).body as { id: string }
    const byId = { $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } }
    const purged = await entriesOf(() => acme.post("/feedback/purge", { project_id, query: byId }))
    expect(purged).toMatchObject([
      { outcome: "begun" },
      { type: "feedback.deleted", "feedback.deleted": { ids: [id] } },
    ])

    const costs = { model: { prompt_token_cost: 1, completion_token_cost: 1 } }
    const made = (await must(acme.post("/cost/create", { project_id, costs }))).body as { ids: [string, string][] }
    const costId = made.ids[0]?.[0]
    const byCost = { $expr: { $eq: [{ $getField: "id" }, { $literal: costId }] } }
    const gone = await entriesOf(() => acme.post("/cost/purge", { project_id, query: byCost }))
    expect(gone).toMatchObject([{ outcome: "begun" }, { type: "cost.deleted", "cost.deleted": { ids: [costId] } }])
  })

  test("uploaded files", async () => {
    const form = new FormData()
    form.set("file", new Blob(["{}\n"]), "rows.jsonl")
    const request = new Request("http://x", { method: "POST", body: form })
    const uploaded = await opened.app.server.inject({
      method: "POST",
      url: "/v1/files",
      headers: { authorization: `Bearer ${acme.key}`, "content-type": request.headers.get("content-type") ?? "" },
      payload: Buffer.from(await request.arrayBuffer()),
    })
    const { id } = uploaded.json<{ id: string }>()
    expect(await entriesOf(() => acme.delete(`/v1/files/${id}`))).toMatchObject([
      { type: "file.deleted", team: "acme", "file.deleted": { id, filename: "rows.jsonl", bytes: 3 } },
    ])
  })
})

describe("the record", () => {
  test("a change that cannot be recorded is not made", async () => {
    const { catalog } = opened.app.stores
    await sql`alter table audit_logs add constraint broken check (type <> 'user.added') not valid`.execute(catalog)
    expect((await admin().post("/v1/organization/users", { username: "ghost" })).status).toBe(500)
    await sql`alter table audit_logs drop constraint broken`.execute(catalog)
    const users = ((await admin().get("/v1/organization/users")).body as { data: { username: string }[] }).data
    expect(users.map(({ username }) => username)).not.toContain("ghost")
    expect((await admin().post("/v1/organization/users", { username: "ghost" })).status).toBe(200)
  })

  test("is read by administrators only, in pages, newest first", async () => {
    expect((await acme.get("/v1/organization/audit_logs")).status).toBe(403)
    for (const name of ["page-1", "page-2", "page-3"]) await must(admin().post("/v1/organization/teams", { name }))
    const page = async (after: string) =>
      auditLogPage.parse((await admin().get(`/v1/organization/audit_logs?limit=2${after}`)).body)
    const first = await page("")
    expect(first.data.map(({ team }) => team)).toEqual(["page-3", "page-2"])
    expect(first).toMatchObject({ has_more: true, first_id: first.data[0]?.id, last_id: first.data[1]?.id })
    expect((await page(`&after=${first.last_id}`)).data[0]?.team).toBe("page-1")
    const lost = await admin().get("/v1/organization/audit_logs?after=audit_log-none")
    expect(lost).toMatchObject({ status: 404 })
    expect((await admin().get("/v1/organization/audit_logs?event_types[]=none")).status).toBe(422)
  })

  test("is filtered by action, actor, thing, team and time", async () => {
    await must(admin().post("/v1/organization/teams", { name: "filtered" }))
    await must(acme.post("/v1/organization/api_keys", { name: "filtered" }))
    const me = (await acme.get("/v1/organization/me")).body as { id: string }
    const types = async (query: string) => [...new Set((await logs(query)).map(({ type }) => type))]
    expect(await types("&event_types[]=team.created")).toEqual(["team.created"])
    expect((await types("&event_types[]=team.created&event_types[]=api_key.created")).toSorted()).toEqual([
      "api_key.created",
      "team.created",
    ])
    const own = await logs(`&actor_ids[]=${me.id}`)
    expect(own[0]).toMatchObject({ type: "api_key.created", actor: { api_key: { user: { username: "acme" } } } })
    expect(own.every(({ actor }) => actor.type === "api_key" && actor.api_key.user.id === me.id)).toBe(true)
    expect(await logs("&actor_ids[]=no-uuid")).toEqual([])
    expect((await logs("&teams[]=filtered")).map(({ team }) => team)).toEqual(["filtered"])
    const [entry] = await logs("&teams[]=filtered")
    const thing = (entry as unknown as { "team.created": { id: string } })["team.created"].id
    expect((await logs(`&resource_ids[]=${thing}`)).length).toBe(1)
    const now = Math.floor(Date.now() / 1000)
    expect(await logs(`&effective_at[gt]=${now + 60}`)).toEqual([])
    expect((await logs(`&effective_at[lte]=${now + 60}&effective_at[gte]=${now - 3600}`)).length).toBeGreaterThan(5)
  })

  test("entries are only added, and removed at the end of their time", async () => {
    const { catalog } = opened.app.stores
    const change = sql`update audit_logs set team = 'other'`.execute(catalog)
    await expect(change).rejects.toThrow("entries of audit_logs are not changed")
    await expect(catalog.deleteFrom("audit_logs").execute()).rejects.toThrow("entries of audit_logs are not changed")
    await sql`insert into audit_logs (created_at, type, outcome, resource_id, details)
      values (now() - interval '30 days', 'team.created', 'succeeded', 'old', '{}')`.execute(catalog)
    const count = (await logs()).length
    expect(await removeAuditLogs(catalog, 31)).toBe(0)
    expect(await removeAuditLogs(catalog, 29)).toBe(1)
    expect(await logs("&resource_ids[]=old")).toEqual([])
    expect((await logs()).length).toBeGreaterThanOrEqual(count - 1)
    await expect(catalog.deleteFrom("audit_logs").execute()).rejects.toThrow("entries of audit_logs are not changed")
  })
})

describe("keys and users", () => {
  const statusOf = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` }
    return (await opened.app.server.inject({ method: "GET", url: "/v1/organization/me", headers })).statusCode
  }

  async function newUser(username: string): Promise<string> {
    await must(admin().post("/v1/organization/users", { username }))
    const made = await must(admin().post("/v1/organization/api_keys", { name: "first", username }))
    return (made.body as { value: string }).value
  }

  test("a disabled user's keys stop at once, and work again when the user is enabled", async () => {
    const key = await newUser("brian")
    expect(await statusOf(key)).toBe(200)
    const disabled = await admin().post("/v1/organization/users/brian", { disabled: true })
    expect(disabled).toMatchObject({ status: 200, body: { username: "brian", disabled: true } })
    expect(await statusOf(key)).toBe(401)
    await must(admin().post("/v1/organization/users/brian", { disabled: false }))
    expect(await statusOf(key)).toBe(200)
  })

  test("only an administrator disables, never themselves, and nobody who is not there", async () => {
    expect((await acme.post("/v1/organization/users/rival", { disabled: true })).status).toBe(403)
    expect((await admin().post("/v1/organization/users/admin", { disabled: true })).status).toBe(409)
    expect((await admin().post("/v1/organization/users/nobody", { disabled: true })).status).toBe(404)
    expect((await admin().post("/v1/organization/users/rival", {})).status).toBe(422)
  })

  test("the operator's key lets the administrator in again, whom somebody disabled", async () => {
    await must(admin().post("/v1/organization/users", { username: "second", is_admin: true }))
    const made = await must(admin().post("/v1/organization/api_keys", { name: "k", username: "second" }))
    const { value } = made.body as { value: string }
    const headers = { authorization: `Bearer ${value}`, "content-type": "application/json" }
    const answer = await opened.app.server.inject({
      method: "POST",
      url: "/v1/organization/users/admin",
      headers,
      payload: JSON.stringify({ disabled: true }),
    })
    expect(answer.statusCode).toBe(200)
    expect((await admin().get("/v1/organization/me")).status).toBe(401)
    await opened.restart()
    expect((await admin().get("/v1/organization/me")).status).toBe(200)
  })

  test("a key ends at its time", async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const made = await must(acme.post("/v1/organization/api_keys", { name: "short", expires_at }))
    const { id, value } = made.body as { id: string; value: string }
    expect(made.body).toMatchObject({ expires_at, last_used_at: null })
    expect(await statusOf(value)).toBe(200)
    // The server forgets its cache of keys when any key changes, so the next request reads this key's end.
    await sql`update api_keys set expires_at = now() - interval '1 second' where id = ${id}`.execute(
      opened.app.stores.catalog,
    )
    await must(acme.post("/v1/organization/api_keys", { name: "other" }))
    await must(admin().post("/v1/organization/users/rival", { disabled: false }))
    expect(await statusOf(value)).toBe(401)
    const listed = ((await acme.get("/v1/organization/api_keys")).body as { data: { id: string }[] }).data
    expect(listed.map((key) => key.id)).not.toContain(id)
  })

  test("a key that would end in the past is refused", async () => {
    const body = { name: "past", expires_at: "2020-01-01T00:00:00Z" }
    expect(await acme.post("/v1/organization/api_keys", body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "expires_at"] }] },
    })
    expect((await acme.post("/v1/organization/api_keys", { name: "x", expires_at: "tomorrow" })).status).toBe(422)
  })

  test("when a key was used last is listed, also after the server has stopped", async () => {
    const key = await newUser("clara")
    const before = Date.now() - 1000
    expect(await statusOf(key)).toBe(200)
    await opened.restart()
    const answer = await admin().get("/v1/organization/api_keys")
    const { data } = answer.body as { data: { username: string; last_used_at: string | null }[] }
    const used = data.find(({ username }) => username === "clara")?.last_used_at ?? ""
    expect(Date.parse(used)).toBeGreaterThan(before)
  })
})
