/** Labels of objects and sources of datasets in the catalog, on PGlite and on a PostgreSQL server: objects 2.7, 2.8, 10. */
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import {
  deleteLinks,
  findLinks,
  findMemberships,
  listLinks,
  type NewDatasetSourceLink,
  putLinks,
} from "../../src/storage/catalog/objects/dataset-sources.ts"
import { addTags, listTags, removeTags, setAliases } from "../../src/storage/catalog/objects/object-labels.ts"
import { findVersion, labelsOf } from "../../src/storage/catalog/objects/object-reads.ts"
import { deleteVersions, publishObject } from "../../src/storage/catalog/objects/objects.ts"
import { addProject, addTenant, openTestCatalog, type TestCatalog, type TestTenant } from "../support/test-catalog.ts"

let catalog: TestCatalog
let tenant: TestTenant
beforeAll(async () => {
  catalog = await openTestCatalog()
  tenant = await addTenant(catalog.database, "labels")
})
afterAll(() => catalog.close())

let projects = 0
const newProject = () => addProject(catalog.database, tenant.entityId, `p${projects++}`)

const version = (digest: string) => ({ objectId: "x", digest })

async function publish(project: string, digest: string): Promise<void> {
  const classes = { kind: "object", baseObjectClass: null, leafObjectClass: null } as const
  await publishObject(catalog.database, project, { ...version(digest), ...classes, val: "1", userId: "u" })
}

test("2.8: aliases that many move at once, in any order, name one version each", async () => {
  const project = await newProject()
  const digests = Array.from({ length: 10 }, (_, index) => `d${index}`)
  for (const digest of digests) await publish(project, digest)
  const moves = digests.flatMap((digest, index) => {
    const names = ["a", "b", "c"]
    const rotated = names.map((_, at) => names[(at + index) % 3] as string)
    return [rotated, rotated.toReversed()].map((aliases) =>
      setAliases(catalog.database, project, version(digest), aliases),
    )
  })
  expect(await Promise.all(moves)).toEqual(moves.map(() => true))
  const labels = await labelsOf(
    catalog.database,
    project,
    digests.map((digest) => ({ object_id: "x", digest })),
  )
  const given = digests.flatMap((digest) => labels({ object_id: "x", digest }).aliases)
  expect(given.toSorted()).toEqual(["a", "b", "c"])
  const named = await findVersion(catalog.database, project, { objectId: "x", version: "a" }, false)
  expect(labels({ object_id: "x", digest: named?.digest ?? "" }).aliases).toContain("a")
})

test("2.7: a version that is deleted while it is tagged keeps no tag", async () => {
  const project = await newProject()
  for (let round = 0; round < 10; round++) {
    await publish(project, "d")
    const [added] = await Promise.all([
      addTags(catalog.database, project, version("d"), ["t"]),
      deleteVersions(catalog.database, project, "x", ["d"]),
    ])
    expect(typeof added).toBe("boolean")
    expect(await listTags(catalog.database, project)).toEqual([])
  }
})

test("2.7: thousands of tags in one statement, sorted by code point", async () => {
  const project = await newProject()
  await publish(project, "d")
  const tags = ["b", "a", "B", "é", "_", ...Array.from({ length: 5000 }, (_, index) => `n${index}`)]
  expect(await addTags(catalog.database, project, version("d"), tags)).toBe(true)
  expect(await addTags(catalog.database, project, version("e"), tags)).toBe(false)
  await removeTags(catalog.database, project, version("d"), tags.slice(5))
  expect(await listTags(catalog.database, project)).toEqual(["B", "_", "a", "b", "é"])
})

const newLink = (more: Partial<NewDatasetSourceLink> = {}): NewDatasetSourceLink => ({
  id: randomUUID(),
  dataset_object_id: "cases",
  row_digest: "r",
  source_kind: "call",
  source_id: "s",
  source_trace_id: "t",
  source_display_name: "ask",
  source_started_at: "2026-01-01T00:00:00Z",
  link_metadata: null,
  added_by: "u",
  ...more,
})

test("10: a link that many make at once is made once", async () => {
  const project = await newProject()
  const links = Array.from({ length: 20 }, (_, index) =>
    newLink({ row_digest: `r${index % 7}`, source_id: `s${index}` }),
  )
  const made = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      putLinks(catalog.database, project, index % 2 === 0 ? links : links.toReversed()),
    ),
  )
  const counts = links.map(({ id }) => made.filter((ids) => ids.has(id)).length)
  expect(counts).toEqual(links.map(() => 1))
})

test("10: links are deleted together or not at all, and come back as they began", async () => {
  const { database } = catalog
  const project = await newProject()
  const [one, two] = [newLink({ row_digest: "b" }), newLink({ row_digest: "a", link_metadata: '{"n":1.0}' })]
  await putLinks(database, project, [one, two])
  const all = { datasetObjectId: "cases", rowDigests: null, sourceKinds: null, limit: null, offset: 0 }
  const live = async () => {
    const listed = await listLinks(database, project, { ...all, withDeleted: false })
    return findLinks(
      database,
      project,
      listed.map(({ id }) => id),
    )
  }
  const before = await live()
  expect(before.map((link) => link.link_metadata)).toEqual(['{"n":1.0}', null])
  expect(await deleteLinks(database, project, [one.id, randomUUID()])).toBeNull()
  expect(await deleteLinks(database, project, [one.id])).toEqual(new Set([one.id]))
  expect(await deleteLinks(database, project, [one.id, two.id])).toEqual(new Set([two.id]))
  expect(await live()).toEqual([])
  expect(await putLinks(database, project, [two])).toEqual(new Set())
  const after = await live()
  expect(after.map(({ id, created_at }) => [id, created_at])).toEqual([[two.id, before[0]?.created_at]])
  const source = { source_kind: "call", source_id: "s", source_trace_id: "t" } as const
  const [membership] = await findMemberships(database, project, [source], { withDeleted: true, mostRows: 1 })
  expect(membership).toMatchObject({ row_digests: ["a"], row_count: 2, first_seen_at: before[0]?.created_at })
})
