/** Teams and users, as administrators and other users see them. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { deleted, listOf, team, teamMember, user } from "../../src/wire/platform/account.ts"
import { must } from "../support/answers.ts"
import { addTenant, type Caller, openTestApp, type TestApp } from "../support/test-app.ts"

let opened: TestApp
beforeAll(async () => {
  opened = await openTestApp()
  await must(opened.admin.post("/v1/organization/teams", { name: "lab" }))
})
afterAll(() => opened.close())

async function teamsOf(caller: Caller): Promise<string[]> {
  const { body } = await must(caller.get("/v1/organization/teams"))
  return listOf(team.strict())
    .parse(body)
    .data.map(({ name }) => name)
}

async function membersOf(name: string, caller: Caller = opened.admin) {
  const { body } = await must(caller.get(`/v1/organization/teams/${name}/members`))
  return listOf(teamMember.strict()).parse(body).data
}

const namesOf = async (name: string, caller?: Caller) => (await membersOf(name, caller)).map(({ username }) => username)

const newModel = (caller: Caller, entity: string) =>
  caller.post("/v1/preview/models", {
    entity,
    project: "p",
    name: "m",
    base_model: "heddle/tiny",
    return_existing: true,
  })

test("a user who makes a team is its first member, and may write into it at once", async () => {
  expect(await newModel(opened.admin, "made")).toMatchObject({ status: 403 })
  await must(opened.admin.post("/v1/organization/teams", { name: "made" }))
  expect(await namesOf("made")).toEqual(["admin"])
  expect(await newModel(opened.admin, "made")).toMatchObject({ status: 200, body: { entity: "made" } })
  const me = await must(opened.admin.get("/v1/organization/me"))
  expect(user.parse(me.body).entities).toContain("made")
})

test("a user sees the teams they are in and who else is; an administrator sees all", async () => {
  expect(await teamsOf(opened.acme)).toEqual([])
  for (const username of ["rival", "acme"]) {
    await must(opened.admin.post("/v1/organization/teams/lab/members", { username }))
  }
  await must(opened.admin.post("/v1/organization/teams", { name: "closed" }))
  expect(await teamsOf(opened.acme)).toEqual(["lab"])
  expect(await namesOf("lab", opened.acme)).toEqual(["acme", "admin", "rival"])
  expect(await teamsOf(opened.admin)).toEqual(expect.arrayContaining(["closed", "lab", "local"]))
  expect(await teamsOf(opened.admin)).not.toContain("acme")
  expect(await namesOf("closed")).toEqual(["admin"])
})

test("members of another team, or of none: the same 404", async () => {
  await must(opened.admin.post("/v1/organization/teams", { name: "hidden" }))
  const texts = await Promise.all(
    ["hidden", "absent"].map(async (name) => {
      const { status, body } = await opened.acme.get(`/v1/organization/teams/${name}/members`)
      return [status, JSON.stringify(body).replace(name, "…")]
    }),
  )
  expect(texts[0]).toEqual([404, texts[1]?.[1]])
  expect(await opened.admin.get("/v1/organization/teams/absent/members")).toMatchObject({ status: 404 })
})

test("a disabled member is listed as such", async () => {
  await addTenant(() => opened.app, opened.admin, "paused")
  await must(opened.admin.post("/v1/organization/teams/lab/members", { username: "paused" }))
  await must(opened.admin.post("/v1/organization/users/paused", { disabled: true }))
  expect(await membersOf("lab")).toContainEqual(expect.objectContaining({ username: "paused", disabled: true }))
})

test("a user who is removed is out of every team, and enabling them gives back neither team nor key", async () => {
  const leaver = await addTenant(() => opened.app, opened.admin, "leaver")
  await must(opened.admin.post("/v1/organization/teams/lab/members", { username: "leaver" }))
  await must(newModel(leaver, "leaver"))
  const removal = () => must(opened.admin.delete("/v1/organization/users/leaver"))
  const { id } = deleted.parse((await removal()).body)
  expect(await namesOf("lab")).not.toContain("leaver")
  expect(await leaver.get("/v1/organization/me")).toMatchObject({ status: 401 })
  expect(deleted.parse((await removal()).body)).toEqual({ id, deleted: true })
  const entries = await must(opened.admin.get("/v1/organization/audit_logs?event_types[]=user.deleted"))
  expect(entries.body).toMatchObject({ data: [{ "user.deleted": { id, username: "leaver" } }] })

  const enabled = await must(opened.admin.post("/v1/organization/users/leaver", { disabled: false }))
  expect(enabled.body).toMatchObject({ id, entities: ["leaver"], disabled: false })
  expect(await leaver.get("/v1/organization/me")).toMatchObject({ status: 401 })
  // The user's projects are still theirs.
  const made = await must(opened.admin.post("/v1/organization/api_keys", { name: "back", username: "leaver" }))
  const { value } = made.body as { value: string }
  const models = await opened.app.server.inject({
    url: "/v1/preview/models",
    headers: { authorization: `Bearer ${value}` },
  })
  expect(models.json()).toMatchObject({ data: [{ entity: "leaver", name: "m" }] })
})

test("nobody removes themselves, and only an administrator removes", async () => {
  expect(await opened.admin.delete("/v1/organization/users/admin")).toMatchObject({ status: 409 })
  expect(await opened.acme.delete("/v1/organization/users/rival")).toMatchObject({ status: 403 })
  expect(await opened.admin.delete("/v1/organization/users/nobody")).toMatchObject({ status: 404 })
})
