/** A role in a project ends with the membership, also when both are changed at the same time on a PostgreSQL server. */
import { type RawBuilder, sql } from "kysely"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { must } from "../support/answers.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"

const team = "/v1/organization/teams/labs"

// The embedded catalog has one connection: nothing happens there within a transaction of somebody else.
describe.skipIf(process.env["HEDDLE_TEST_POSTGRES_URL"] === undefined)("a role in a project", () => {
  let opened: TestApp
  beforeAll(async () => {
    opened = await openTestApp()
    await must(opened.admin.post("/v1/organization/teams", { name: "labs" }))
    await must(opened.admin.post("/v1/projects", { entity: "labs", name: "p" }))
  })
  afterAll(() => opened.close())

  async function join(username: string): Promise<void> {
    await must(opened.admin.post(`${team}/members`, { username, role: "viewer" }))
  }

  async function giveRole(username: string): Promise<number> {
    const { statusCode } = await opened.app.server.inject({
      method: "PUT",
      url: `/v1/projects/labs/p/roles/${username}`,
      headers: { authorization: `Bearer ${opened.admin.key}`, "content-type": "application/json" },
      payload: JSON.stringify({ role: "admin" }),
    })
    return statusCode
  }

  async function roleOf(username: string): Promise<string | undefined> {
    const { body } = await opened.admin.get("/v1/projects/labs/p/roles")
    return (body as { data: { username: string; role: string }[] }).data.find((one) => one.username === username)?.role
  }

  /** Does `first`, which waits for rows that `held` locks, and `second` until it is done or waits too; then lets both end. */
  async function interleave<A, B>(held: RawBuilder<unknown>, first: () => Promise<A>, second: () => Promise<B>) {
    const { catalog } = opened.app.stores
    const waiting = async () => {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(catalog)
      return rows.length
    }
    return catalog.transaction().execute(async (transaction) => {
      await held.execute(transaction)
      const one = first()
      await expect.poll(waiting).toBe(1)
      let isOver = false
      const other = second().finally(() => (isOver = true))
      await expect.poll(async () => isOver || (await waiting()) === 2).toBe(true)
      return { both: Promise.all([one, other]) }
    })
  }

  const projectRow = sql`select p.id from all_projects p join entities e on e.id = p.entity_id
    where e.name = 'labs' for update of p`
  const membershipOf = (username: string) => sql`select m.role from memberships m join users u on u.id = m.user_id
    join entities e on e.id = m.entity_id where e.name = 'labs' and u.username = ${username} for key share of m`

  test("that is given while the member leaves does not come back with them", async () => {
    await join("acme")
    const leave = () => opened.admin.delete(`${team}/members/acme`)
    const { both } = await interleave(projectRow, () => giveRole("acme"), leave)
    const [given, left] = await both
    expect([200, 404]).toContain(given)
    expect(left.status).toBe(200)
    await join("acme")
    expect(await roleOf("acme")).toBe("viewer")
  })

  test("that is given while the member is being taken out goes with the membership", async () => {
    await join("rival")
    const leave = () => opened.admin.delete(`${team}/members/rival`)
    const { both } = await interleave(membershipOf("rival"), leave, () => giveRole("rival"))
    const [left, given] = await both
    expect([left.status, given]).toEqual([200, 200])
    await join("rival")
    expect(await roleOf("rival")).toBe("viewer")
  })
})
