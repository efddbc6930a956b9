/** When a key was used last is stored although the server closes while that is under way. */
import { setTimeout as sleep } from "node:timers/promises"
import { sql } from "kysely"
import { afterAll, beforeAll, expect, test } from "vitest"
import { KeyUse } from "../../src/platform/sign-in/key-use.ts"
import { mustBody } from "../support/answers.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"

let opened: TestApp
beforeAll(async () => {
  opened = await openTestApp()
})
afterAll(() => opened.close())

test("a close waits for a store that has begun", async () => {
  const made = opened.admin.post("/v1/organization/api_keys", { name: "k" })
  const { id } = await mustBody<{ id: string }>(made)
  const { catalog } = opened.app.stores
  const use = new KeyUse(catalog, { error: (fields: object) => expect.unreachable(JSON.stringify(fields)) })
  let isClosed = false
  let closing = Promise.resolve()
  await catalog.transaction().execute(async (transaction) => {
    await sql`select id from api_keys where id = ${id} for update`.execute(transaction)
    use.saw(id)
    // The first use is stored a second later, and waits for this transaction.
    await sleep(1_500)
    closing = use.close().finally(() => {
      isClosed = true
    })
    await sleep(100)
    expect(isClosed).toBe(false)
  })
  await closing
  const row = await catalog.selectFrom("api_keys").select("last_used_at").where("id", "=", id).executeTakeFirstOrThrow()
  expect(row.last_used_at).toBeInstanceOf(Date)
})
