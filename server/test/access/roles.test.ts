/** Roles in teams and projects, scopes of keys, service accounts and invitations, over HTTP. */
import { sql } from "kysely"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { must, mustBody } from "../support/answers.ts"
import { TestBrowser } from "../support/browser.ts"
import { addTenant, type Caller, callerOf, openTestApp, type TestApp } from "../support/test-app.ts"

let opened: TestApp
/** The administrator of the team, its only member at first. */
let lead: Caller
const team = "/v1/organization/teams/labs"
beforeAll(async () => {
  opened = await openTestApp()
  lead = await addUser("lead")
  await must(opened.admin.post("/v1/organization/teams", { name: "labs" }))
  await must(opened.admin.post(`${team}/members`, { username: "lead", role: "admin" }))
  await must(lead.post("/v1/projects", { entity: "labs", name: "p" }))
})
afterAll(() => opened.close())

const addUser = (username: string) => addTenant(() => opened.app, opened.admin, username)

async function join(username: string, role: string): Promise<Caller> {
  const caller = await addUser(username)
  await must(opened.admin.post(`${team}/members`, { username, role }))
  return caller
}

const put = async ({ key }: Caller, url: string, payload: object) =>
  (await opened.app.server.inject({ method: "PUT", url, headers: { authorization: `Bearer ${key}` }, payload }))
    .statusCode

const publish = (caller: Caller, project = "labs/p") =>
  caller.post("/obj/create", { obj: { project_id: project, object_id: "o", val: Math.random() } })
const readObjects = (caller: Caller, project = "labs/p") => caller.post("/objs/query", { project_id: project })

describe("roles in a team", () => {
  test("given a viewer, reading is answered, writing says which role is missing and who can give it", async () => {
    const viewer = await join("vera", "viewer")
    expect((await readObjects(viewer)).status).toBe(200)
    expect(await publish(viewer)).toMatchObject({
      status: 403,
      body: {
        reason:
          'you may not write in "labs/p": your role there is viewer; an administrator of the team can give you another one',
      },
    })
    expect((await publish(viewer, "labs/never-made")).status).toBe(403)
    expect((await readObjects(lead, "labs/never-made")).status).toBe(403)
    expect(await viewer.get("/v1/organization/teams")).toMatchObject({
      body: { data: [{ name: "labs", role: "viewer" }] },
    })
  })

  test("given another role, it counts from the next request on", async () => {
    const changed = await join("cleo", "viewer")
    expect((await publish(changed)).status).toBe(403)
    expect(await lead.post(`${team}/members/cleo`, { role: "member" })).toMatchObject({
      status: 200,
      body: { username: "cleo", role: "member" },
    })
    expect((await publish(changed)).status).toBe(200)
  })

  test("given a member, changing the team's members is refused; given a stranger, the team looks as if it were not there", async () => {
    const member = await join("mia", "member")
    expect((await member.post(`${team}/members/lead`, { role: "viewer" })).status).toBe(403)
    expect((await member.delete(`${team}/members/lead`)).status).toBe(403)
    expect((await member.post(`${team}/invitations`, {})).status).toBe(403)
    const known = await opened.acme.post(`${team}/invitations`, {})
    const unknown = await opened.acme.post("/v1/organization/teams/none/invitations", {})
    expect([known.status, JSON.stringify(known.body).replace("labs", "none")]).toEqual([
      404,
      JSON.stringify(unknown.body),
    ])
  })

  test("given a team's administrator, members leave, and their teams elsewhere stay their own", async () => {
    const leaver = await join("lea", "member")
    expect(await lead.delete(`${team}/members/lea`)).toMatchObject({ status: 200, body: { entities: [] } })
    expect((await readObjects(leaver)).status).toBe(403)
    expect((await lead.delete(`${team}/members/lea`)).status).toBe(404)
    expect((await lead.delete(`${team}/members/acme`)).status).toBe(404)
  })

  test("every user stays the administrator of their own entity", async () => {
    const answer = await opened.acme.post("/v1/organization/teams/acme/members/acme", { role: "viewer" })
    expect(answer).toMatchObject({ status: 409 })
  })
})

describe("roles in one project", () => {
  test("given a role in a project, it counts there in place of the team's, until it is taken back", async () => {
    const viewer = await join("paul", "viewer")
    await must(lead.post("/v1/projects", { entity: "labs", name: "open" }))
    expect(await put(lead, "/v1/projects/labs/open/roles/paul", { role: "member" })).toBe(200)
    expect((await publish(viewer, "labs/open")).status).toBe(200)
    expect((await publish(viewer)).status).toBe(403)
    expect((await viewer.get("/v1/projects/labs/open/roles")).body).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({ username: "paul", role: "member", team_role: "viewer" }),
      ]),
    })
    const roleOf = async () => {
      const { data } = await mustBody<{ data: { username: string }[] }>(lead.get("/v1/projects/labs/open/roles"))
      return data.find(({ username }) => username === "paul")
    }
    await must(lead.post(`${team}/members/paul`, { role: "member" }))
    expect(await roleOf()).toMatchObject({ role: "member", team_role: "member", is_own: true })
    await must(lead.post(`${team}/members/paul`, { role: "viewer" }))
    expect((await publish(viewer, "labs/open")).status).toBe(200)
    await must(lead.delete("/v1/projects/labs/open/roles/paul"))
    expect(await roleOf()).toMatchObject({ role: "viewer", team_role: "viewer", is_own: false })
    expect((await publish(viewer, "labs/open")).status).toBe(403)
  })

  test("given a member who left and came back, the role in the project did not stay", async () => {
    await join("rita", "viewer")
    expect(await put(lead, "/v1/projects/labs/p/roles/rita", { role: "admin" })).toBe(200)
    await must(lead.delete(`${team}/members/rita`))
    await must(opened.admin.post(`${team}/members`, { username: "rita", role: "viewer" }))
    expect((await lead.get("/v1/projects/labs/p/roles")).body).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ username: "rita", role: "viewer" })]),
    })
  })

  test("given a user who is no member, no role is given", async () => {
    expect(await put(lead, "/v1/projects/labs/p/roles/acme", { role: "viewer" })).toBe(404)
  })
})

describe("scopes of keys", () => {
  const keyOf = async (caller: Caller, body: object) => {
    const made = await mustBody<{ value: string }>(caller.post("/v1/organization/api_keys", { name: "k", ...body }))
    return callerOf(() => opened.app, made.value, caller.entity)
  }

  test("given a key for ingest, calls are stored and nothing is read or deleted", async () => {
    const ingest = await keyOf(lead, { scope: "ingest" })
    expect((await publish(ingest)).status).toBe(200)
    expect(await readObjects(ingest)).toMatchObject({
      status: 403,
      body: {
        reason:
          "this key has the scope ingest, which does not reach this call; use a key of the scope all or read or label or train",
      },
    })
    expect((await ingest.post("/obj/delete", { project_id: "labs/p", object_id: "o" })).status).toBe(403)
    expect((await ingest.post("/v1/organization/api_keys", { name: "more" })).status).toBe(403)
  })

  test("given a key to train, models and feedback are made, and nothing else is changed or deleted", async () => {
    const train = await keyOf(lead, { scope: "train" })
    const model = { entity: "labs", project: "p", name: "trained", base_model: "heddle/tiny" }
    const made = await mustBody<{ id: string }>(train.post("/v1/preview/models", model))
    const feedback = { project_id: "labs/p", feedback_type: "note", payload: {}, weave_ref: "weave:///labs/p/call/1" }
    expect((await train.post("/feedback/create", feedback)).status).toBe(200)
    expect((await readObjects(train)).status).toBe(200)
    expect(await publish(train)).toMatchObject({
      status: 403,
      body: {
        reason: "this key has the scope train, which does not reach this call; use a key of the scope all or ingest",
      },
    })
    expect((await train.delete(`/v1/preview/models/${made.id}`)).status).toBe(403)
    expect((await train.post("/v1/projects", { entity: "labs", name: "more" })).status).toBe(403)
    const label = await keyOf(lead, { scope: "label" })
    expect(await label.post("/v1/preview/models", model)).toMatchObject({
      status: 403,
      body: {
        detail: "this key has the scope label, which does not reach this call; use a key of the scope all or train",
      },
    })
  })

  test("given a key to read of an administrator of the server, no user is made with it", async () => {
    const reader = await keyOf(opened.admin, { scope: "read" })
    expect((await reader.get("/v1/organization/me")).status).toBe(200)
    expect((await reader.post("/v1/organization/users", { username: "made" })).status).toBe(403)
    expect((await reader.get("/v1/organization/users")).status).toBe(403)
  })

  test("given a key for ingest, a run's past is not shown by GraphQL", async () => {
    const ingest = await keyOf(lead, { scope: "ingest" })
    const ask = (caller: Caller) =>
      caller.post("/graphql", { query: '{ project(name: "p", entityName: "labs") { name runCount } }' })
    expect((await ask(lead)).body).toEqual({ data: { project: { name: "p", runCount: 0 } } })
    expect((await ask(ingest)).body).toEqual({ data: { project: { name: "p", runCount: null } } })
    const query = `mutation($config: JSONString) {
      upsertBucket(input: { entityName: "labs", modelName: "runs", name: "r", config: $config }) { bucket { name config } }
    }`
    const variables = { config: '{"lr": {"value": 1}}' }
    const upserted = async (caller: Caller) => (await caller.post("/graphql", { query, variables })).body
    const bucket = (config: string | null) => ({ data: { upsertBucket: { bucket: { name: "r", config } } } })
    expect(await upserted(ingest)).toEqual(bucket(null))
    expect(await upserted(lead)).toEqual(bucket(variables.config))
  })

  test("the list shows scope, end and last use", async () => {
    await keyOf(opened.rival, { name: "short", scope: "label", expires_at: "2999-01-01T00:00:00Z" })
    expect((await opened.rival.get("/v1/organization/api_keys")).body).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({
          name: "short",
          scope: "label",
          expires_at: "2999-01-01T00:00:00.000Z",
          last_used_at: null,
        }),
        expect.objectContaining({ name: "tests", scope: "all", expires_at: null }),
      ]),
    })
  })
})

describe("service accounts", () => {
  test("given one, its key writes in its team, opens no browser, and ends with it", async () => {
    const made = await mustBody<{ username: string; role: string }>(
      lead.post(`${team}/service_accounts`, { name: "ci" }),
    )
    expect(made).toMatchObject({ username: "ci@labs", role: "service_account" })
    expect(await lead.post(`${team}/service_accounts`, { name: "ci" })).toMatchObject({ status: 200, body: made })
    const { value } = await mustBody<{ value: string }>(
      lead.post("/v1/organization/api_keys", { name: "ci", username: "ci@labs" }),
    )
    const program = callerOf(() => opened.app, value, "labs")
    expect((await publish(program)).status).toBe(200)
    expect((await program.post(`${team}/invitations`, {})).status).toBe(403)
    expect((await new TestBrowser(opened).signIn(value)).status).toBe(403)
    expect((await lead.get("/v1/organization/api_keys")).body).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ username: "ci@labs" })]),
    })
    expect((await opened.acme.post("/v1/organization/api_keys", { name: "x", username: "ci@labs" })).status).toBe(403)
    await must(lead.delete(`${team}/members/ci@labs`))
    expect((await publish(program)).status).toBe(401)
    expect((await lead.post(`${team}/service_accounts`, { name: "ci" })).status).toBe(409)
  })

  test("given one that an administrator of the server takes out of a team it is not in, it stays", async () => {
    await must(lead.post(`${team}/service_accounts`, { name: "nightly" }))
    const { value } = await mustBody<{ value: string }>(
      lead.post("/v1/organization/api_keys", { name: "k", username: "nightly@labs" }),
    )
    const program = callerOf(() => opened.app, value, "labs")
    expect(await opened.admin.delete("/v1/organization/teams/acme/members/nightly@labs")).toMatchObject({
      status: 404,
      body: { error: { message: '"acme" has no member "nightly@labs"' } },
    })
    expect((await publish(program)).status).toBe(200)
    await must(opened.admin.delete(`${team}/members/nightly@labs`))
    expect((await publish(program)).status).toBe(401)
  })

  test("given one that was removed, or a user who is disabled, no key is made, and the refusal says why", async () => {
    await must(lead.post(`${team}/service_accounts`, { name: "old" }))
    await must(lead.delete(`${team}/members/old@labs`))
    expect(await lead.post("/v1/organization/api_keys", { name: "k", username: "old@labs" })).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('"old@labs" is disabled or was removed') } },
    })
    await addUser("dora")
    await must(opened.admin.post("/v1/organization/users/dora", { disabled: true }))
    expect((await opened.admin.post("/v1/organization/api_keys", { name: "k", username: "dora" })).status).toBe(409)
  })
})

describe("invitations", () => {
  const invite = (role = "annotator", body: object = {}) =>
    mustBody<{ id: string; token: string }>(lead.post(`${team}/invitations`, { role, ...body }))
  const signUp = (token: string, username: string) =>
    opened.app.server.inject({ method: "POST", url: "/v1/sign-up", payload: { token, username } })

  test("given a token, one new person signs up with it, in the role that was offered", async () => {
    const { token } = await invite()
    expect((await signUp(token, "acme")).statusCode).toBe(422)
    const answer = await signUp(token, "nora")
    expect(answer.statusCode).toBe(200)
    const { user, api_key } = answer.json<{ user: { entities: string[] }; api_key: { value: string } }>()
    expect(user.entities).toEqual(["labs", "nora"])
    const nora = callerOf(() => opened.app, api_key.value, "nora")
    expect((await readObjects(nora)).status).toBe(200)
    expect((await publish(nora)).status).toBe(403)
    expect((await signUp(token, "otto")).statusCode).toBe(401)
  })

  test("given a user, the token lets them in once; who is in already keeps the role", async () => {
    const user = await addUser("uma")
    const accept = (caller: Caller, token: string) => caller.post("/v1/organization/invitations/accept", { token })
    const { token } = await invite("member")
    expect(await accept(user, token)).toMatchObject({ status: 200, body: { name: "labs", role: "member" } })
    expect((await publish(user)).status).toBe(200)
    expect((await accept(user, token)).status).toBe(401)
    expect(await accept(user, (await invite("viewer")).token)).toMatchObject({ status: 200, body: { role: "member" } })
  })

  test("given an invitation that was ended, or whose time is over, it lets nobody in", async () => {
    const { id, token } = await invite()
    await must(lead.delete(`${team}/invitations/${id}`))
    expect((await signUp(token, "late")).statusCode).toBe(401)
    const past = await invite()
    await sql`update invitations set expires_at = now() - interval '1 second' where id = ${past.id}`.execute(
      opened.app.stores.catalog,
    )
    expect((await signUp(past.token, "late")).statusCode).toBe(401)
    expect((await lead.get(`${team}/invitations`)).body).toEqual({ object: "list", data: [] })
  })

  test("one that was accepted, ended or has passed its time leaves no row", async () => {
    const accepted = await invite()
    expect((await signUp(accepted.token, "rowan")).statusCode).toBe(200)
    const ended = await invite()
    await must(lead.delete(`${team}/invitations/${ended.id}`))
    const past = await invite()
    const { catalog } = opened.app.stores
    await sql`update invitations set expires_at = now() - interval '1 second' where id = ${past.id}`.execute(catalog)
    const open = await invite()
    const gone = [accepted.id, ended.id, past.id]
    const rows = await catalog
      .selectFrom("invitations")
      .select("id")
      .where("id", "in", [...gone, open.id])
      .execute()
    expect(rows).toEqual([{ id: open.id }])
    await must(lead.delete(`${team}/invitations/${open.id}`))
  })

  test("given that who invited may not decide about the team any more, it lets nobody in, nor them", async () => {
    const former = await join("fred", "admin")
    const tokenOf = async () =>
      (await mustBody<{ token: string }>(former.post(`${team}/invitations`, { role: "admin" }))).token
    const tokens = [await tokenOf(), await tokenOf()] as const
    await must(lead.post(`${team}/members/fred`, { role: "viewer" }))
    expect((await signUp(tokens[0], "gina")).statusCode).toBe(401)
    await must(lead.delete(`${team}/members/fred`))
    const back = await former.post("/v1/organization/invitations/accept", { token: tokens[1] })
    expect([back.status, (await readObjects(former)).status]).toEqual([401, 403])
    expect((await lead.get(`${team}/invitations`)).body).toEqual({ object: "list", data: [] })
  })

  test("given one into a user's own entity, users join it, and only an administrator of the server makes new ones so", async () => {
    const host = await addUser("hugo")
    const into = "/v1/organization/teams/hugo/invitations"
    const { token } = await mustBody<{ token: string }>(host.post(into, { role: "member" }))
    const refused = await signUp(token, "ivan")
    expect([refused.statusCode, refused.json()]).toEqual([
      403,
      { error: expect.objectContaining({ message: expect.stringContaining('"hugo" is the own entity of a user') }) },
    ])
    const guest = await addUser("gwen")
    expect(await guest.post("/v1/organization/invitations/accept", { token })).toMatchObject({
      status: 200,
      body: { name: "hugo", role: "member" },
    })
    const byServer = await mustBody<{ token: string }>(opened.admin.post(into, {}))
    expect((await signUp(byServer.token, "ivan")).statusCode).toBe(200)
  })

  test("given an end in the moment in which it is made, it is made or refused, and so is a key", async () => {
    for (let ms = 1; ms <= 8; ms += 1) {
      const body = { name: "short", expires_at: new Date(Date.now() + ms).toISOString() }
      const answers = [
        await lead.post("/v1/organization/api_keys", body),
        await lead.post(`${team}/invitations`, { ...body, expires_at: new Date(Date.now() + ms).toISOString() }),
      ]
      for (const { status } of answers) expect([200, 422]).toContain(status)
    }
  })
})

test("every change of roles and invitations is in the record of changes", async () => {
  const { data } = await mustBody<{ data: { type: string }[] }>(
    opened.admin.get("/v1/organization/audit_logs?teams[]=labs&limit=100"),
  )
  expect(new Set(data.map(({ type }) => type))).toEqual(
    new Set([
      "invitation.accepted",
      "invitation.created",
      "invitation.deleted",
      "project.role_deleted",
      "project.role_updated",
      "team.created",
      "team.member_added",
      "team.member_removed",
      "team.member_updated",
    ]),
  )
})

test("given a hundred open invitations, the next is refused until one ends", async () => {
  const made = []
  for (let count = 0; count < 100; count += 1)
    made.push(await mustBody<{ id: string }>(lead.post(`${team}/invitations`, {})))
  expect(await lead.post(`${team}/invitations`, {})).toMatchObject({ status: 409 })
  for (const { id } of made) await must(lead.delete(`${team}/invitations/${id}`))
  expect((await lead.post(`${team}/invitations`, {})).status).toBe(200)
})
