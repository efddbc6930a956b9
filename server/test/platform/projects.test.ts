/** Listing projects, and making one before anything is stored in it. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { openTestApp, type TestApp } from "../support/test-app.ts"

let opened: TestApp
beforeAll(async () => {
  opened = await openTestApp()
  await opened.admin.post("/v1/organization/teams", { name: "shared" })
  await opened.admin.post("/v1/organization/teams/shared/members", { username: "acme" })
  for (const [entity, name] of [
    ["acme", "first"],
    ["acme", "a_sure thing"],
    ["shared", "third"],
  ]) {
    expect((await opened.acme.post("/v1/projects", { entity, name })).status).toBe(200)
  }
})
afterAll(() => opened.close())

interface Page {
  data: { id: string; entity: string; name: string; has_runs: boolean }[]
  has_more: boolean
  last_id: string
}

const list = async (query = "") => (await opened.acme.get(`/v1/projects${query}`)).body as Page
const names = (page: Page) => page.data.map(({ entity, name }) => `${entity}/${name}`)

test("the projects of one's entities, the newest first; nobody else's", async () => {
  expect(names(await list())).toEqual(["shared/third", "acme/a_sure thing", "acme/first"])
  expect(names(await list("?entity=shared"))).toEqual(["shared/third"])
  expect(names(await list("?entity=rival"))).toEqual([])
  expect((await opened.rival.get("/v1/projects")).body).toMatchObject({ data: [], has_more: false })
})

test.each([
  ["FIR", ["acme/first"]],
  ["shared/th", ["shared/third"]],
  ["a_sure t", ["acme/a_sure thing"]],
  ["%", []],
  ["_", ["acme/a_sure thing"]],
  ["\0", []],
])("a part of the name, %j", async (part, found) => {
  expect(names(await list(`?query=${encodeURIComponent(part)}`))).toEqual(found)
})

test.each([
  ["?name=first", ["acme/first"]],
  ["?name=third&entity=shared", ["shared/third"]],
  ["?name=third&entity=acme", []],
  ["?name=third&query=fir", []],
  ["?name=FIRST", []],
  ["?name=fir", []],
  ["?name=%00", []],
])("by the whole name, %s", async (query, found) => {
  expect(names(await list(query))).toEqual(found)
})

test("page by page", async () => {
  const first = await list("?limit=2")
  expect([names(first).length, first.has_more]).toEqual([2, true])
  const second = await list(`?limit=2&after=${first.last_id}`)
  expect([names(second), second.has_more]).toEqual([["acme/first"], false])
  expect((await opened.acme.get("/v1/projects?after=nothing")).status).toBe(404)
})

test("to make one again is to find it; what is stored in it lands there", async () => {
  const make = () => opened.acme.post("/v1/projects", { entity: "acme", name: "again" })
  const [first, second] = [await make(), await make()]
  expect(second.body).toEqual(first.body)
  const model = await opened.acme.post("/v1/preview/models", { project: "again", name: "m", base_model: "heddle/tiny" })
  expect(model.body).toMatchObject({ entity: "acme", project: "again" })
  expect(names(await list("?query=again"))).toEqual(["acme/again"])
})

test.each([
  [{ entity: "rival", name: "x" }, 403],
  [{ entity: "nobody", name: "x" }, 403],
  [{ entity: "acme", name: "a/b" }, 422],
  [{ entity: "acme", name: "" }, 422],
  [{ name: "x" }, 422],
])("%j: %i", async (body, status) => {
  expect((await opened.acme.post("/v1/projects", body)).status).toBe(status)
})

test.each([".", ".."])("a write makes no project called %s, whose pages nobody could open", async (name) => {
  const object = { project_id: `acme/${name}`, object_id: "o", val: {} }
  const { status, body } = await opened.acme.post("/obj/create", { obj: object })
  expect([status, body]).toEqual([
    400,
    { reason: expect.stringContaining(`"acme/${name}"`), error_type: "InvalidRequest" },
  ])
})

test("a project tells whether runs were logged in it, apart from those of its models", async () => {
  await opened.acme.post("/v1/projects", { entity: "acme", name: "logged" })
  const log = async (name: string) => {
    const query = "mutation($input: UpsertBucketInput) { upsertBucket(input: $input) { bucket { id } } }"
    const input = { entityName: "acme", modelName: "logged", name }
    const { body } = await opened.acme.post("/graphql", { query, variables: { input } })
    expect(body).toMatchObject({ data: { upsertBucket: { bucket: { id: expect.any(String) } } } })
  }
  const hasRuns = async () => (await list("?query=acme/logged")).data.map((project) => project.has_runs)
  expect(await hasRuns()).toEqual([false])
  const model = { entity: "acme", project: "logged", name: "agent", base_model: "heddle/tiny" }
  expect((await opened.acme.post("/v1/preview/models", model)).status).toBe(200)
  await log("agent")
  expect(await hasRuns()).toEqual([false])
  await log("night-1")
  expect(await hasRuns()).toEqual([true])
})
