/** Versions of objects in the catalog, on PGlite and on a PostgreSQL server: evaluation-store-objects 3. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { deleteObject } from "../../src/objects/object-read.ts"
import type { Principal } from "../../src/http/principal.ts"
import { deleteVersions, type NewObjectVersion, publishObject } from "../../src/storage/catalog/objects/objects.ts"
import {
  findVersion,
  findVersions,
  labelsOf,
  listVersions,
  type ObjectFilter,
} from "../../src/storage/catalog/objects/object-reads.ts"
import { addProject, addTenant, openTestCatalog, type TestCatalog, type TestTenant } from "../support/test-catalog.ts"

let catalog: TestCatalog
let tenant: TestTenant
beforeAll(async () => {
  catalog = await openTestCatalog()
  tenant = await addTenant(catalog.database, "objects")
})
afterAll(() => catalog.close())

let projects = 0
const newProject = () => addProject(catalog.database, tenant.entityId, `p${projects++}`)

const version = (objectId: string, digest: string, more: Partial<NewObjectVersion> = {}): NewObjectVersion => ({
  objectId,
  digest,
  kind: "object",
  baseObjectClass: null,
  leafObjectClass: null,
  val: `"${digest}"`,
  userId: "someone",
  ...more,
})

const noFilter: ObjectFilter = {
  baseObjectClasses: [],
  excludeBaseObjectClasses: [],
  leafObjectClasses: [],
  objectIds: [],
  isOp: null,
  latestOnly: false,
  tags: [],
  aliases: [],
}

async function list(projectId: string, filter: Partial<ObjectFilter> = {}) {
  const listing = { filter: { ...noFilter, ...filter }, order: [], limit: null, offset: 0, withVal: false }
  const rows = await listVersions(catalog.database, projectId, listing)
  return rows.map((row) => `${row.digest}:v${row.version_index}${row.is_latest ? " latest" : ""}`)
}

test("versions that are published at once get numbers without gaps, and one of them is the latest", async () => {
  const project = await newProject()
  const digests = Array.from({ length: 20 }, (_, index) => `d${index % 10}`)
  await Promise.all(digests.map((digest) => publishObject(catalog.database, project, version("x", digest))))
  const listed = await list(project)
  expect(listed.map((one) => one.replace(/^d\d:/, "").replace(" latest", "")).toSorted()).toEqual(
    Array.from({ length: 10 }, (_, index) => `v${index}`),
  )
  expect(listed.filter((one) => one.endsWith("latest"))).toHaveLength(1)
})

test("a deleted version leaves its number, tags and aliases; it comes back under its number without them", async () => {
  const { database } = catalog
  const project = await newProject()
  for (const digest of ["a", "b", "c"]) await publishObject(database, project, version("x", digest))
  await database
    .insertInto("object_aliases")
    .values(["prod", "best"].map((alias) => ({ project_id: project, object_id: "x", alias, digest: "b" })))
    .execute()
  await database
    .insertInto("object_tags")
    .values(["z", "t"].map((tag) => ({ project_id: project, object_id: "x", digest: "b", tag })))
    .execute()
  const found = (name: string) => findVersion(database, project, { objectId: "x", version: name }, true)
  expect(await found("prod")).toMatchObject({ digest: "b", val: '"b"' })
  const labelled = { object_id: "x", digest: "b" }
  expect((await labelsOf(database, project, [labelled]))(labelled)).toEqual({
    tags: ["t", "z"],
    aliases: ["best", "prod"],
  })
  expect(await list(project, { tags: ["t", "none"] })).toEqual(["b:v1"])
  expect(await list(project, { aliases: ["prod", "latest"] })).toEqual(["b:v1", "c:v2 latest"])

  expect(await deleteVersions(database, project, "x", ["b", "c", "none"])).toHaveLength(2)
  expect(await list(project)).toEqual(["a:v0 latest"])
  expect([await found("prod"), (await found("v1"))?.deleted_at]).toEqual([null, expect.any(Date)])
  await publishObject(database, project, version("x", "b"))
  expect(await list(project)).toEqual(["a:v0", "b:v1 latest"])
  expect(await found("prod")).toBeNull()
})

test("3.4: of deletions at once, one deletes and the others find nothing", async () => {
  const { database } = catalog
  const entity = { id: tenant.entityId, name: "objects", role: "member" } as const
  const principal: Principal = {
    userId: tenant.userId,
    username: "someone",
    apiKeyId: tenant.apiKeyId,
    requestId: "req_test",
    requestsPerMinute: null,
    isAdmin: false,
    defaultEntity: entity,
    entities: [entity],
    projectRoles: new Map(),
    scope: "all",
    right: "write",
  }
  await publishObject(database, await addProject(database, entity.id, "deletions"), version("x", "a"))
  const body = { project_id: "objects/deletions", object_id: "x", digests: null }
  const results = await Promise.allSettled([1, 2, 3].map(() => deleteObject(database, principal, body)))
  const rejected = results.filter((result) => result.status === "rejected")
  expect(rejected.map(({ reason }) => reason as unknown)).toMatchObject([{ code: "not_found" }, { code: "not_found" }])
})

test("a name in one project says nothing about another, in any way of naming", async () => {
  const { database } = catalog
  const [mine, theirs] = [await newProject(), await newProject()]
  const digest = "x".repeat(43)
  await publishObject(database, mine, version("x", digest))
  const names = ["latest", "v0", digest, "alias"].map((name) => ({ objectId: "x", version: name }))
  expect(await findVersions(database, theirs, names, true)).toEqual([null, null, null, null])
  expect((await findVersions(database, mine, names, true)).map((found) => found?.digest)).toEqual([
    digest,
    digest,
    digest,
    undefined,
  ])
  expect(await deleteVersions(database, theirs, "x", [digest])).toEqual([])
  expect(await list(mine)).toEqual([`${digest}:v0 latest`])
})

test("another base class is refused while a version of the name lives", async () => {
  const { database } = catalog
  const project = await newProject()
  await publishObject(database, project, version("x", "a", { baseObjectClass: "Model" }))
  const other = version("x", "b", { baseObjectClass: "Dataset" })
  expect(await publishObject(database, project, other)).toEqual({
    published: false,
    existingBaseObjectClasses: ["Model"],
  })
  expect(await publishObject(database, project, { ...other, kind: "op" })).toEqual({ published: true, versionIndex: 0 })
  expect(await list(project)).toEqual(["a:v0 latest", "b:v0 latest"])
})
