/** Requests of weave clients before their first call: service paths and GraphQL. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => {
  opened = await openEvaluationApp()
})
afterAll(() => opened.close())

/** The GraphQL documents of weave 0.54.0. */
const projectQuery =
  "query Project($name: String!, $entityName: String!) { project(name: $name, entityName: $entityName) { name } }"
const upsert = `mutation UpsertModel($name: String!, $id: String, $entity: String!, $description: String, $repo: String) {
  upsertModel(input: { id: $id, name: $name, entityName: $entity, description: $description, repo: $repo }) {
    model { name description }
  }
}`

const ask = (query: string, variables: object = {}, caller = opened.acme) =>
  caller.post("/graphql", { query, variables })

test("objects 15.1, calls 1.2: /health and /server_info are open", async () => {
  for (const url of ["/health", "/traces/health"]) {
    const answer = await opened.app.server.inject({ method: "GET", url })
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: "ok" }])
  }
  const info = (await opened.app.server.inject({ method: "GET", url: "/server_info" })).json<Record<string, string>>()
  expect(info["min_required_weave_python_version"]).toBe("0.0.1")
  expect(info["trace_server_version"]).toMatch(/^\d+\.\d+\.\d+$/)
  expect((await opened.acme.get("/version")).body).toEqual({ version: info["trace_server_version"] })
})

test("objects 15.1: Basic api:<key> is taken, another user or key is not", async () => {
  const viewer = (credentials: string) =>
    opened.app.server.inject({
      method: "POST",
      url: "/graphql",
      headers: { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` },
      payload: { query: "{ viewer { username } }" },
    })
  expect((await viewer(`api:${opened.acme.key}`)).json()).toEqual({ data: { viewer: { username: "acme" } } })
  expect((await viewer(`bob:${opened.acme.key}`)).statusCode).toBe(401)
  const wrong = await viewer("api:not-a-key")
  expect(wrong.statusCode).toBe(401)
  // This code keeps weave 0.54.0 from trying again.
  expect(wrong.json()).toMatchObject({ errors: [{ extensions: { code: "PERMISSION_ERROR" } }] })
})

test("objects 15.1: Bearer takes the same keys, also in the evaluation store", async () => {
  const asked = (key: string) =>
    opened.app.server.inject({
      method: "POST",
      url: "/refs/read_batch",
      headers: { authorization: `Bearer ${key}` },
      payload: { refs: [] },
    })
  expect((await asked(opened.acme.key)).json()).toEqual({ vals: [] })
  const refused = await asked("k".repeat(48))
  expect([refused.statusCode, refused.json()]).toEqual([401, { detail: expect.stringContaining("not known") }])
})

test("objects 15.3: viewer is the key's user", async () => {
  const query = "{ viewer { id username email admin defaultEntity { name } teams { edges { node { name } } } } }"
  expect((await ask(query)).body).toEqual({
    data: {
      viewer: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        username: "acme",
        email: null,
        admin: false,
        defaultEntity: { name: "acme" },
        teams: { edges: [{ node: { name: "acme" } }] },
      },
    },
  })
})

test("objects 15.2: the viewer's default entity", async () => {
  const query = "query DefaultEntity { viewer { username defaultEntity { name } } }"
  expect(await ask(query)).toMatchObject({
    status: 200,
    body: { data: { viewer: { username: "acme", defaultEntity: { name: "acme" } } } },
  })
})

test("objects 15.3: a project is null until it is upserted, once or twice", async () => {
  const variables = { name: "first", entityName: "acme" }
  expect((await ask(projectQuery, variables)).body).toEqual({ data: { project: null } })
  for (let again = 0; again < 2; again++) {
    const made = await ask(upsert, { name: "first", entity: "acme", description: null })
    expect(made.body).toEqual({ data: { upsertModel: { model: { name: "first", description: null } } } })
  }
  expect((await ask(projectQuery, variables)).body).toEqual({ data: { project: { name: "first" } } })
  const [info] = (await opened.acme.post("/service/projects_info", { project_ids: ["acme/first"] })).body as {
    internal_project_id: string
  }[]
  const whole = { id: info?.internal_project_id, name: "first", entityName: "acme", description: null, repo: null }
  for (const root of ["project", "model"]) {
    const query = `query ($p: String!) { ${root}(name: $p, entityName: "acme") { ${Object.keys(whole).join(" ")} } }`
    expect((await ask(query, { p: "first" })).body).toEqual({ data: { [root]: whole } })
  }
})

test("objects 15.3: another team's projects are not there and cannot be made", async () => {
  await ask(upsert, { name: "secret", entity: "rival" }, opened.rival)
  expect((await ask(projectQuery, { name: "secret", entityName: "rival" })).body).toEqual({ data: { project: null } })
  const refused = await ask(upsert, { name: "new", entity: "rival" })
  expect(refused.status).toBe(200)
  expect(refused.body).toMatchObject({
    data: { upsertModel: null },
    errors: [{ message: expect.stringContaining('"rival"') as unknown, extensions: { code: "PERMISSION_ERROR" } }],
  })
  expect((await ask(projectQuery, { name: "new", entityName: "rival" }, opened.rival)).body).toEqual({
    data: { project: null },
  })
})

test("objects 15.3: selections that we do not have are null", async () => {
  const query = `query ($flag: Boolean = true) {
    viewer { username mystery { depth(of: 3) } again: unheard ...Card }
    weather(city: "Oslo") { degrees }
    serverInfo { frontendHost latestLocalVersionInfo { outOfDate } }
    entity(name: "acme") { name readOnly plan @include(if: $flag) }
  }
  fragment Card on User { teams { edges { node { name colour } } } }`
  expect(await ask(query)).toMatchObject({
    status: 200,
    body: {
      data: {
        viewer: {
          username: "acme",
          mystery: null,
          again: null,
          teams: { edges: [{ node: { name: "acme", colour: null } }] },
        },
        weather: null,
        serverInfo: { frontendHost: null, latestLocalVersionInfo: null },
        entity: { name: "acme", readOnly: false, plan: null },
      },
    },
  })
})

test("objects 15.3: an input with fields that we do not have is read", async () => {
  const query = `mutation ($input: UpsertModelInput!) { upsertModel(input: $input) { model { name } inserted } }`
  const input = { name: "wide", entityName: "acme", framework: "torch", nested: { a: [1] } }
  expect((await ask(query, { input })).body).toEqual({
    data: { upsertModel: { model: { name: "wide" }, inserted: true } },
  })
})

test.each([
  ["no GraphQL", "query {"],
  ["an empty document", ""],
  ["a missing variable", projectQuery],
  ["a cycle of fragments", "{ viewer { ...A } } fragment A on User { ...B } fragment B on User { ...A }"],
  ["an unknown fragment", "{ viewer { ...Nowhere } }"],
  ["a project's name with a slash", `mutation { upsertModel(input: {name: "a/b"}) { model { name } } }`],
  ["no project's name", `mutation { upsertModel(input: 7) { model { name } } }`],
  ["too long a document", `{ ${"viewer { username } ".repeat(3000)} }`],
])("objects 15.3: %s is an error with a message and status 200", async (_, query) => {
  const answer = await ask(query)
  expect(answer.status).toBe(200)
  const { errors } = answer.body as { errors: { message: string }[] }
  expect(errors[0]?.message.length).toBeGreaterThan(10)
})

test("objects 15.3: a body that is no GraphQL request is a 4xx with errors", async () => {
  const answer = await opened.acme.post("/graphql", { variables: {} })
  expect(answer.status).toBe(422)
  expect((answer.body as { errors: unknown[] }).errors).toHaveLength(1)
})

test("objects 10: projects_info names the caller's projects by a base64 id without a slash", async () => {
  await ask(upsert, { name: "hashed", entity: "acme" })
  await ask(upsert, { name: "hidden", entity: "rival" }, opened.rival)
  const project_ids = ["acme/hashed", "acme/none", "rival/hidden", "noslash"]
  const answer = await opened.acme.post("/service/projects_info", { project_ids })
  expect(answer.status).toBe(200)
  const [info, ...rest] = answer.body as { external_project_id: string; internal_project_id: string }[]
  expect(rest).toEqual([])
  expect(info?.external_project_id).toBe("acme/hashed")
  expect(info?.internal_project_id).toMatch(/^[A-Za-z0-9+]+=*$/)
  expect(Buffer.from(info?.internal_project_id ?? "", "base64").toString()).toMatch(/^ProjectInternalId:[0-9a-f-]{36}$/)
})
