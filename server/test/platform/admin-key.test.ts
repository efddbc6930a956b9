/** HEDDLE_ADMIN_KEY is changed, removed and set again over several starts. */
import { afterEach, beforeEach, expect, test } from "vitest"
import { adminKey as first, callerOf, openTestApp, type TestApp } from "../support/test-app.ts"

const second = "second_admin_key_of_the_tests_0123456789_0123"

let opened: TestApp
beforeEach(async () => (opened = await openTestApp()))
afterEach(() => opened.close())

async function restartWith(adminKey: string | null): Promise<void> {
  opened.config.adminKey = adminKey
  await opened.restart()
}

const callWith = (key: string) => callerOf(() => opened.app, key, "local")
const statusOf = async (key: string) => (await callWith(key).get("/v1/organization/users")).status
const keysOf = async (key: string) =>
  ((await callWith(key).get("/v1/organization/api_keys")).body as { data: { id: string; name: string }[] }).data

test("security 5.2: a start with another key ends the one before, and no key that was made through the API", async () => {
  const made = await opened.admin.post("/v1/organization/api_keys", { name: "of the administrator" })
  const { value } = made.body as { value: string }
  await restartWith(second)
  expect([await statusOf(first), await statusOf(second), await statusOf(value)]).toEqual([401, 200, 200])
  expect((await opened.acme.get("/v1/organization/me")).status).toBe(200)
  expect((await keysOf(second)).filter(({ name }) => name === "HEDDLE_ADMIN_KEY")).toHaveLength(1)
})

test("a start without the variable leaves the key as it is, live or revoked", async () => {
  await restartWith(null)
  expect(await statusOf(first)).toBe(200)
  const [key] = (await keysOf(first)).filter(({ name }) => name === "HEDDLE_ADMIN_KEY")
  expect((await callWith(first).delete(`/v1/organization/api_keys/${key?.id}`)).status).toBe(200)
  await restartWith(null)
  expect(await statusOf(first)).toBe(401)
})

test("a key that was revoked lives again when it is set again: it is the way back in", async () => {
  await restartWith(second)
  await restartWith(first)
  expect([await statusOf(first), await statusOf(second)]).toEqual([200, 401])
  for (const { id } of await keysOf(first)) await callWith(first).delete(`/v1/organization/api_keys/${id}`)
  expect(await statusOf(first)).toBe(401)
  await restartWith(first)
  expect(await statusOf(first)).toBe(200)
})

test("a key made through the API that becomes the setting ends with it", async () => {
  const made = await opened.acme.post("/v1/organization/api_keys", { name: "mine" })
  const { value } = made.body as { value: string }
  await restartWith(value)
  expect(await statusOf(value)).toBe(200)
  await restartWith(first)
  expect(await statusOf(value)).toBe(401)
})

/** Entries about keys and users that starts wrote into the record of changes, oldest first. */
async function recordedByStarts(key: string): Promise<{ type: string; id: unknown }[]> {
  const { body } = await callWith(key).get("/v1/organization/audit_logs?limit=100")
  const entries = (body as { data: { type: string; actor: { type: string }; [what: string]: unknown }[] }).data
  return entries
    .filter(({ actor }) => actor.type === "server")
    .toReversed()
    .map((entry) => ({ type: entry.type, ...(entry[entry.type] as { id: string; name?: string; username: string }) }))
}

test("the record of changes has the keys that starts set, revoked and revived, and nothing of a start that changed none", async () => {
  const idOf = async (key: string) => (await keysOf(key)).find(({ name }) => name === "HEDDLE_ADMIN_KEY")?.id
  const details = { name: "HEDDLE_ADMIN_KEY", username: "admin" }
  const firstId = await idOf(first)
  const made = { type: "api_key.created", id: firstId, ...details }
  expect(await recordedByStarts(first)).toEqual([made])
  await opened.restart()
  expect(await recordedByStarts(first)).toEqual([made])
  await restartWith(second)
  const secondId = await idOf(second)
  const replaced = [
    { type: "api_key.created", id: secondId, ...details },
    { type: "api_key.deleted", id: firstId, ...details },
  ]
  expect(await recordedByStarts(second)).toEqual([made, ...replaced])
  expect((await callWith(second).delete(`/v1/organization/api_keys/${secondId}`)).status).toBe(200)
  await opened.restart()
  expect(await recordedByStarts(second)).toEqual([made, ...replaced, replaced[0]])
})

test("the record of changes has that a start enabled the administrator again", async () => {
  await opened.admin.post("/v1/organization/users", { username: "deputy", is_admin: true })
  const { body } = await opened.admin.post("/v1/organization/api_keys", { name: "deputy's", username: "deputy" })
  const deputy = callWith((body as { value: string }).value)
  expect((await deputy.post("/v1/organization/users/admin", { disabled: true })).status).toBe(200)
  await opened.restart()
  expect(await statusOf(first)).toBe(200)
  expect(await recordedByStarts(first)).toMatchObject([
    { type: "api_key.created" },
    { type: "user.updated", username: "admin", disabled: false },
  ])
})
