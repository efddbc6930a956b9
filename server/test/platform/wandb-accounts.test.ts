/** Projects, teams and users as `wandb.Api()` reads them: platform-wandb 3.2, 4. */
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { evaluationCaller, type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { ask, startRun } from "../support/wandb-runs.ts"

let opened: EvaluationApp
beforeAll(async () => {
  opened = await openEvaluationApp()
  await startRun(opened.acme, { entity: "acme", project: "shown", run: "one" })
})
afterAll(() => opened.close())

test("platform-wandb 4: a project has the time at which it was made, and empty lists of sweeps and reports", async () => {
  const query = `query($name: String!) { project(name: $name, entityName: "acme") {
    __typename id name entityName createdAt isBenchmark totalSweeps
    sweeps(after: null, first: 50, filters: "{}") { pageInfo { endCursor hasNextPage } edges { node { id method } } }
    allViews(viewType: "runs", viewName: null, first: 50, after: null) {
      edges { node { id name displayName } cursor } pageInfo { endCursor hasNextPage } } } }`
  const { data } = await ask(opened.acme, query, { name: "shown" })
  const { project } = data as { project: { createdAt: string } }
  expect(project).toMatchObject({
    name: "shown",
    entityName: "acme",
    isBenchmark: false,
    totalSweeps: 0,
    sweeps: { edges: [], pageInfo: { hasNextPage: false, endCursor: null } },
    allViews: { edges: [], pageInfo: { hasNextPage: false, endCursor: null } },
  })
  expect(Math.abs(Date.now() - Date.parse(project.createdAt))).toBeLessThan(600_000)
})

const team = `query($name: String!) { entity(name: $name) { name available readOnlyAdmin isTeam privateOnly storageBytes
  codeSavingEnabled defaultAccess members { username name admin pending accountType } } }`

test("platform-wandb 4: members read their team with its members, others nothing", async () => {
  const { data } = await ask(opened.acme, team, { name: "acme" })
  const { entity } = data as { entity: { storageBytes: number; members: object[] } }
  expect(entity).toMatchObject({ name: "acme", available: false, privateOnly: true, defaultAccess: "PRIVATE" })
  expect(entity.members).toContainEqual({
    username: "acme",
    name: "acme",
    admin: true,
    pending: false,
    accountType: "admin",
  })
  expect((await ask(opened.rival, team, { name: "acme" })).data).toEqual({ entity: null })
})

const users =
  "query($query: String) { users(query: $query) { edges { node { username teams { edges { node { name } } } } } } }"

test("platform-wandb 4: administrators of the server find users by a part of their names, others none", async () => {
  const found = await ask(
    evaluationCaller(() => opened.app, opened.admin),
    users,
    { query: "CM" },
  )
  expect(found.data).toEqual({ users: { edges: [{ node: expect.objectContaining({ username: "acme" }) }] } })
  expect((await ask(opened.acme, users, { query: "acme" })).data).toEqual({ users: null })
})

test("security 5.3: the cursor of another team's project is answered as that of one that is not there", async () => {
  await startRun(opened.rival, { entity: "rival", project: "older", run: "one" })
  await startRun(opened.acme, { entity: "acme", project: "newer", run: "one" })
  const { data } = await ask(opened.acme, '{ project(name: "newer") { internalId } }')
  const { internalId } = (data as { project: { internalId: string } }).project
  const after = async (cursor: string | null) => {
    const query = "query($cursor: String) { models(after: $cursor) { edges { node { name } } } }"
    return (await ask(opened.rival, query, { cursor })).data
  }
  const nowhere = Buffer.from(`ProjectInternalId:${randomUUID()}`).toString("base64")
  expect(await after(null)).toEqual({ models: { edges: [{ node: { name: "older" } }] } })
  expect(await after(internalId)).toEqual(await after(nowhere))
})

test("platform-wandb 4: the list of projects goes on after one that was deleted since it was listed", async () => {
  for (const project of ["page-3", "page-2", "page-1"]) {
    await startRun(opened.acme, { entity: "acme", project, run: "one" })
  }
  const query = `query($after: String, $first: Int) { models(entityName: "acme", after: $after, first: $first) {
    edges { node { name } } pageInfo { endCursor hasNextPage } } }`
  const page = async (after: string | null, first: number) => {
    const { data } = await ask(opened.acme, query, { after, first })
    const { edges, pageInfo } = (
      data as {
        models: { edges: { node: { name: string } }[]; pageInfo: { endCursor: string; hasNextPage: boolean } }
      }
    ).models
    return { names: edges.map(({ node }) => node.name), ...pageInfo }
  }
  const first = await page(null, 1)
  expect(first).toMatchObject({ names: ["page-1"], hasNextPage: true })
  expect((await opened.acme.delete("/v1/projects/acme/page-1")).status).toBe(200)
  expect(await page(first.endCursor, 2)).toMatchObject({ names: ["page-2", "page-3"], hasNextPage: true })
})
