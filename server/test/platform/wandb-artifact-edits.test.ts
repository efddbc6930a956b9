/** Changes of committed artifacts, such as aliases, links and deletion, and their lineage: platform-wandb 9.3, 9.4. */
import { createHash, randomUUID } from "node:crypto"
import { sql } from "kysely"
import { afterAll, beforeAll, expect, test } from "vitest"
import { collectArtifacts } from "../../src/storage/artifact-collector.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import {
  type ArtifactLog,
  artifactDigest,
  askForFiles,
  change,
  commit,
  contentsOf,
  createArtifact,
  fetchFrom,
  filesOf,
  logArtifact,
  manifestAddress,
  manifestOf,
  md5,
  put,
  readArtifact,
  sendArtifact,
} from "../support/wandb-artifacts.ts"
import { dataOf, readRun, startRun, streamPath, upsertRun } from "../support/wandb-runs.ts"
import { setRoom } from "../support/team-room.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const newNames = () => ({ entity: "acme", project: `p-${randomUUID().slice(0, 8)}`, collection: "model" })
type Names = ReturnType<typeof newNames>

const log = (given: ArtifactLog) => logArtifact(opened, opened.acme, given)

const versionOf = async (names: Names, alias: string, fields = "versionIndex") =>
  readArtifact(opened.acme, names, `${names.collection}:${alias}`, fields)

const localOf = (id: string) => Buffer.from(id, "base64").toString().replace("Artifact:", "")

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

const mutate = (name: string, input: object, fields: string) =>
  change(
    opened.acme,
    `mutation M($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) { x: ${name}(input: $input) { ${fields} } }`,
    { input },
  )

const aliasesInput = ({ entity, project, collection }: Names, artifactID: string, ...aliases: string[]) => ({
  artifactID,
  aliases: aliases.map((alias) => ({
    artifactCollectionName: collection,
    entityName: entity,
    projectName: project,
    alias,
  })),
})

test("platform-wandb 9.3: an alias is of one version, moves to another, and goes", async () => {
  const names = newNames()
  const one = await log({ ...names, files: { a: "1" } })
  const two = await log({ ...names, files: { a: "2" } })
  await mutate("addAliases", aliasesInput(names, one.id, "best", "prod"), "success")
  expect([await versionOf(names, "best"), await versionOf(names, "latest")]).toEqual([
    { versionIndex: 0 },
    { versionIndex: 1 },
  ])
  await mutate("addAliases", aliasesInput(names, two.id, "best"), "success")
  expect(await versionOf(names, "best")).toEqual({ versionIndex: 1 })
  await mutate("deleteAliases", aliasesInput(names, two.id, "best", "prod"), "success")
  // The alias `prod` belongs to the other version, so it stays.
  expect([await versionOf(names, "best"), await versionOf(names, "prod")]).toEqual([null, { versionIndex: 0 }])
  await expect(
    mutate("addAliases", aliasesInput({ ...names, collection: "another" }, one.id, "x"), "success"),
  ).rejects.toThrow('the version is not in a collection "another"')
})

test("platform-wandb 4: an alias is changed in the collection of the project that it names, by who may write there", async () => {
  const [names, elsewhere] = [newNames(), newNames()]
  const { entity, project } = elsewhere
  const one = await log({ ...names, files: { a: "1" } })
  const two = await log({ ...names, files: { a: "2" } })
  for (const { id } of [one, two]) {
    const portfolio = { entityName: entity, projectName: project, artifactPortfolioName: elsewhere.collection }
    await mutate("linkArtifact", { artifactID: id, ...portfolio }, "versionIndex")
  }
  const both = async (alias: string) => [await versionOf(names, alias, "id"), await versionOf(elsewhere, alias, "id")]
  await mutate("addAliases", aliasesInput(elsewhere, one.id, "prod"), "success")
  expect(await both("prod")).toEqual([null, { id: one.id }])
  const unnamed = { artifactID: two.id, aliases: [{ artifactCollectionName: "model", alias: "prod" }] }
  await mutate("addAliases", unnamed, "success")
  expect(await both("prod")).toEqual([{ id: two.id }, { id: one.id }])
  await mutate("deleteAliases", aliasesInput(names, two.id, "prod"), "success")
  expect(await both("prod")).toEqual([null, { id: one.id }])

  const viewer = await opened.addColleague("viewer-of-releases")
  const role = `/v1/projects/${entity}/${project}/roles/viewer-of-releases`
  expect((await opened.acme.put(role, { role: "viewer" })).status).toBe(200)
  const [own] = aliasesInput(names, two.id, "best").aliases
  for (const [name, alias] of [
    ["addAliases", "best"],
    ["deleteAliases", "prod"],
  ] as const) {
    const input = { artifactID: two.id, aliases: [own, ...aliasesInput(elsewhere, two.id, alias).aliases] }
    const query = `mutation($input: ${name === "addAliases" ? "AddAliasesInput" : "DeleteAliasesInput"}!) { ${name}(input: $input) { success } }`
    await expect(change(viewer, query, { input })).rejects.toThrow(`you may not write in "${entity}/${project}"`)
  }
  expect([await both("best"), await both("prod")]).toEqual([
    [null, null],
    [null, { id: one.id }],
  ])
  await expect(
    mutate("addAliases", aliasesInput({ ...names, entity: "rival" }, one.id, "prod"), "success"),
  ).rejects.toThrow('the version is not in a collection "model" of "rival/')
})

test("platform-wandb 4: description, metadata, tags and time are changed, and what is left out stays", async () => {
  const names = newNames()
  const { id } = await log({
    ...names,
    files: { a: "1" },
    input: { metadata: '{"lr": 0.1, "n": NaN}', description: "d" },
  })
  const fields = "description metadata tags { name } ttlDurationSeconds ttlIsInherited"
  const stays = { metadata: '{"lr": 0.1, "n": NaN}', ttlDurationSeconds: -2, ttlIsInherited: true }
  await mutate(
    "updateArtifact",
    { artifactID: id, description: "other", tagsToAdd: [{ tagName: "b" }, { tagName: "a" }] },
    "artifact { id }",
  )
  expect(await versionOf(names, "v0", fields)).toEqual({
    ...stays,
    description: "other",
    tags: [{ name: "a" }, { name: "b" }],
  })
  await mutate(
    "updateArtifact",
    { artifactID: id, metadata: "{}", tagsToDelete: [{ tagName: "b" }], ttlDurationSeconds: 3600 },
    "artifact { id }",
  )
  expect(await versionOf(names, "v0", fields)).toEqual({
    description: "other",
    metadata: "{}",
    tags: [{ name: "a" }],
    ttlDurationSeconds: 3600,
    ttlIsInherited: false,
  })
})

test("platform-wandb 9.2: a run lists the artifacts that it made and used, and an artifact its runs", async () => {
  const names = newNames()
  const { entity, project } = names
  for (const run of ["maker", "user"]) await startRun(opened.acme, { entity, project, run })
  const { id } = await log({ ...names, files: { a: "1" }, input: { runName: "maker" } })
  await mutate(
    "useArtifact",
    { artifactID: id, entityName: entity, projectName: project, runName: "user", usedAs: null },
    "artifact { id digest state }",
  )
  const fields =
    "createdBy { __typename ... on Run { name } } usedBy { edges { node { name project { name entity { name } } } } }"
  expect(await versionOf(names, "latest", fields)).toEqual({
    createdBy: { __typename: "Run", name: "maker" },
    usedBy: { edges: [{ node: { name: "user", project: { name: project, entity: { name: "acme" } } } }] },
  })
  const artifacts = (run: string, field: string) =>
    readRun(opened.acme, { entity, project, run }, `${field} { totalCount edges { node { id } } }`)
  const one = { totalCount: 1, edges: [{ node: { id } }] }
  const none = { totalCount: 0, edges: [] }
  expect(await artifacts("maker", "outputArtifacts")).toEqual({ outputArtifacts: one })
  expect(await artifacts("user", "inputArtifacts")).toEqual({ inputArtifacts: one })
  expect(await artifacts("user", "outputArtifacts")).toEqual({ outputArtifacts: none })
})

test("platform-wandb 4: a run is deleted with what it made, or without it", async () => {
  const names = newNames()
  const { entity, project } = names
  const ids: string[] = []
  for (const [index, run] of ["keeps", "takes"].entries()) {
    ids.push(await startRun(opened.acme, { entity, project, run }))
    await log({ ...names, files: { a: `${index}` }, input: { runName: run } })
  }
  await mutate("deleteRun", { id: ids[0], deleteArtifacts: false }, "success")
  expect(await versionOf(names, "v0", "versionIndex createdBy { __typename }")).toEqual({
    versionIndex: 0,
    createdBy: null,
  })
  await mutate("deleteRun", { id: ids[1], deleteArtifacts: true }, "success")
  expect([await versionOf(names, "v1"), await versionOf(names, "latest")]).toEqual([null, { versionIndex: 0 }])
})

test("platform-wandb 4: a run that made a thousand versions and one is deleted with all of them", async () => {
  const names = newNames()
  const { entity, project } = names
  const id = await startRun(opened.acme, { entity, project, run: "tireless" })
  await log({ ...names, files: { a: "1" }, input: { runName: "tireless" } })
  await sql`insert into artifacts select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'stored_bytes', 0))).*
    from artifacts a join runs r on r.id = a.run_id, generate_series(1, 1000) where r.name = 'tireless'`.execute(
    opened.app.stores.catalog,
  )
  await mutate("deleteRun", { id, deleteArtifacts: true }, "success")
  const query = `query($entity: String!, $project: String!) { project(entityName: $entity, name: $project) {
    artifactCollections { edges { node { name } } } } }`
  expect(dataOf(await change(opened.acme, query, names), "project")).toEqual({
    artifactCollections: { edges: [] },
  })
})

const stored = async () => {
  const { body } = await opened.acme.get("/v1/organization/teams/acme/quotas")
  return (
    (body as { quotas: { name: string; used: number }[] }).quotas.find(({ name }) => name === "stored_bytes")?.used ?? 0
  )
}

test("artifacts count for the team's quota, equal contents once, until they are deleted; a full team logs nothing", async () => {
  const names = newNames()
  const before = await stored()
  const content = "x".repeat(100_000)
  const one = await log({ ...names, files: { a: content } })
  const two = await log({ ...names, files: { a: content, b: "more" } })
  expect((await stored()) - before).toBeGreaterThanOrEqual(100_000)
  expect((await stored()) - before).toBeLessThan(101_000)
  const limit = (bytes: number | null) => setRoom(opened.admin, bytes)
  await limit(await stored())
  await expect(log({ ...names, files: { c: "nothing more" } })).rejects.toThrow("acme")
  await limit(null)
  for (const { id } of [one, two]) await mutate("deleteArtifact", { artifactID: id }, "artifact { id }")
  expect(await stored()).toBe(before)
})

test("law 8: metadata that several requests replace at the same time is given back once", async () => {
  const names = newNames()
  const before = await stored()
  const metadata = JSON.stringify({ note: "x".repeat(100_000) })
  const { id } = await log({ ...names, files: { a: "1" }, input: { metadata } })
  const full = await stored()
  await Promise.all(
    Array.from({ length: 8 }, () => mutate("updateArtifact", { artifactID: id, metadata: "{}" }, "artifact { id }")),
  )
  expect(full - (await stored())).toBe(metadata.length - 2)
  await mutate("deleteArtifact", { artifactID: id, deleteAliases: true }, "artifact { id }")
  expect(await stored()).toBe(before)
})

test("platform-wandb 9.4: a deleted version leaves its number free for ever, and shared contents stay", async () => {
  const names = newNames()
  await log({ ...names, files: { shared: "in both", own: "only the first" } })
  const two = await log({ ...names, files: { shared: "in both", own: "only the second" } })
  await mutate("addAliases", aliasesInput(names, two.id, "prod"), "success")
  await expect(mutate("deleteArtifact", { artifactID: two.id }, "artifact { id }")).rejects.toThrow(
    "the version has the aliases prod",
  )
  const [address] = await filesOf(opened.acme, names, "model:v1")
  await mutate("deleteArtifact", { artifactID: two.id, deleteAliases: true }, "artifact { id }")
  expect([await versionOf(names, "v1"), await versionOf(names, "prod")]).toEqual([null, null])
  expect(await versionOf(names, "latest")).toEqual({ versionIndex: 0 })
  expect((await fetchFrom(opened, address?.directUrl ?? "")).statusCode).toBe(404)
  const has = (text: string) => opened.app.stores.blobs.has(sha256(text))
  expect([await has("in both"), await has("only the first"), await has("only the second")]).toEqual([true, true, false])
  await log({ ...names, files: { own: "third" } })
  expect(await versionOf(names, "latest")).toEqual({ versionIndex: 2 })
})

test("platform-wandb 9.4: latest of a portfolio falls to the highest version left when the project of the newest is deleted", async () => {
  const [kept, deleted, portfolio] = [newNames(), newNames(), { ...newNames(), collection: "releases" }]
  const ids: string[] = []
  for (const names of [kept, deleted]) {
    const { id } = await log({ ...names, files: { a: names.project } })
    const target = { entityName: "acme", projectName: portfolio.project, artifactPortfolioName: "releases" }
    await mutate("linkArtifact", { artifactID: id, ...target }, "versionIndex")
    ids.push(id)
  }
  const newest = () => versionOf(portfolio, "latest", "id")
  expect(await newest()).toEqual({ id: ids[1] })
  const { catalog } = opened.app.stores
  const local = localOf(ids[1] ?? "")
  const isThere = async () =>
    (await catalog.selectFrom("artifacts").select("id").where("id", "=", local).execute()).length
  expect((await opened.acme.delete(`/v1/projects/acme/${deleted.project}`)).status).toBe(200)
  const seen = []
  do seen.push(await newest())
  while ((await isThere()) > 0)
  seen.push(await newest())
  expect(seen).toEqual(seen.map(() => ({ id: ids[0] })))
}, 60_000)

test("platform-wandb 4: collections and types are listed, renamed, tagged and deleted", async () => {
  const names = newNames()
  const { entity, project } = names
  await log({ ...names, files: { a: "of the model" }, type: "model" })
  await log({ ...names, collection: "data", files: { a: "2" }, type: "dataset" })
  const listed = async (type: string) => {
    const query = `query($entity: String, $project: String, $type: String!) { project(name: $project, entityName: $entity) {
      artifactTypes { edges { node { name } } }
      artifactType(name: $type) { artifactCollections { totalCount edges { node { __typename id name description
        type: defaultArtifactType { name } tags { edges { node { name } } } aliases { edges { node { alias } } } } } } } } }`
    return dataOf(await change(opened.acme, query, { entity, project, type }), "project") as {
      artifactTypes: object
      artifactType: { artifactCollections: { totalCount: number; edges: { node: { id: string } }[] } }
    }
  }
  const before = await listed("model")
  const id = before.artifactType.artifactCollections.edges[0]?.node.id
  expect(before).toEqual({
    artifactTypes: { edges: [{ node: { name: "dataset" } }, { node: { name: "model" } }] },
    artifactType: {
      artifactCollections: {
        totalCount: 1,
        edges: [
          {
            node: {
              __typename: "ArtifactSequence",
              id,
              name: "model",
              description: null,
              type: { name: "model" },
              tags: { edges: [] },
              aliases: { edges: [{ node: { alias: "latest" } }] },
            },
          },
        ],
      },
    },
  })
  await mutate(
    "updateArtifactSequence",
    { artifactSequenceID: id, name: "renamed", description: "d" },
    "artifactCollection { name description }",
  )
  await expect(
    mutate("updateArtifactSequence", { artifactSequenceID: id, name: "data" }, "artifactCollection { name }"),
  ).rejects.toThrow('the project has a collection "data" already')
  await mutate(
    "createArtifactCollectionTagAssignments",
    { entityName: entity, projectName: project, artifactCollectionName: "renamed", tags: [{ tagName: "t" }] },
    "tags { name }",
  )
  expect((await listed("model")).artifactType.artifactCollections.edges[0]?.node).toMatchObject({
    name: "renamed",
    description: "d",
    tags: { edges: [{ node: { name: "t" } }] },
  })
  await mutate(
    "moveArtifactSequence",
    { artifactSequenceID: id, destinationArtifactTypeName: "weights" },
    "artifactCollection { name }",
  )
  expect(await readArtifact(opened.acme, names, "renamed:v0", "artifactType { name }")).toEqual({
    artifactType: { name: "weights" },
  })
  const deleted = await change(
    opened.acme,
    "mutation($id: ID!) { x: deleteArtifactSequence(input: { artifactSequenceID: $id }) { artifactCollection { state } } }",
    { id },
  )
  expect(deleted.data).toEqual({ x: { artifactCollection: { state: "DELETED" } } })
  expect(await readArtifact(opened.acme, names, "renamed:v0", "id")).toBeNull()
  expect(await opened.app.stores.blobs.has(sha256("of the model"))).toBe(false)
})

test("platform-wandb 4: a version is linked to a collection of another name, has names there, and is unlinked", async () => {
  const names = newNames()
  const { entity, project } = names
  await log({ ...names, files: { a: "1" } })
  const { id } = await log({ ...names, files: { a: "2" } })
  const input = {
    artifactID: id,
    entityName: entity,
    projectName: project,
    artifactPortfolioName: "releases",
    aliases: [{ artifactCollectionName: "releases", alias: "stable" }],
  }
  const linked = await mutate(
    "linkArtifact",
    input,
    "versionIndex artifactMembership { id artifactCollection { __typename id name } }",
  )
  const place = dataOf(linked, "x") as {
    versionIndex: number
    artifactMembership: { artifactCollection: { id: string } }
  }
  expect(place).toMatchObject({
    versionIndex: 0,
    artifactMembership: { artifactCollection: { __typename: "ArtifactPortfolio", name: "releases" } },
  })
  const fields = "id versionIndex artifactMemberships { edges { node { versionIndex artifactCollection { name } } } }"
  expect(await readArtifact(opened.acme, names, "releases:stable", fields)).toEqual({
    id,
    versionIndex: 1,
    artifactMemberships: {
      edges: [
        { node: { versionIndex: 1, artifactCollection: { name: "model" } } },
        { node: { versionIndex: 0, artifactCollection: { name: "releases" } } },
      ],
    },
  })
  await expect(log({ ...names, collection: "releases", files: { a: "3" } })).rejects.toThrow(
    "versions of others are linked to",
  )
  const artifactPortfolioID = place.artifactMembership.artifactCollection.id
  await mutate("unlinkArtifact", { artifactID: id, artifactPortfolioID }, "success")
  expect(await readArtifact(opened.acme, names, "releases:stable", "id")).toBeNull()
  expect(await versionOf(names, "latest")).toEqual({ versionIndex: 1 })
})

test("time to live: a version past its time is not seen, and is removed with its files", async () => {
  const names = newNames()
  await log({ ...names, files: { a: "stays" } })
  const { id } = await log({ ...names, files: { a: "for an hour" }, input: { ttlDurationSeconds: 3600 } })
  expect(await versionOf(names, "latest", "ttlDurationSeconds")).toEqual({ ttlDurationSeconds: 3600 })
  const { catalog, blobs } = opened.app.stores
  await sql`update artifacts set created_at = now() - interval '2 hours' where id = ${localOf(id)}`.execute(catalog)
  expect([await versionOf(names, "v1"), await versionOf(names, "v0")]).toEqual([null, { versionIndex: 0 }])
  expect(await versionOf(names, "latest")).toEqual({ versionIndex: 0 })
  expect(await collectArtifacts(opened.app.stores, new Date(0))).toBe(1)
  expect([await blobs.has(sha256("for an hour")), await blobs.has(sha256("stays"))]).toEqual([false, true])
  expect(await versionOf(names, "latest")).toEqual({ versionIndex: 0 })
})

test("time to live: one longer than any time keeps no version and no other team's from being read and collected", async () => {
  const names = newNames()
  const { id } = await log({ ...names, files: { a: "stays" } })
  const ttlDurationSeconds = Number.MAX_SAFE_INTEGER
  await mutate("updateArtifact", { artifactID: id, ttlDurationSeconds }, "artifact { id }")
  await log({ ...names, files: { b: "stays too" }, input: { ttlDurationSeconds } })
  const query = `query($entity: String!, $project: String!) { project(entityName: $entity, name: $project) {
    artifactCollections { totalCount edges { node { artifacts { edges { node { versionIndex ttlDurationSeconds } } } } } } } }`
  const versions = [1, 0].map((versionIndex) => ({ node: { versionIndex, ttlDurationSeconds } }))
  expect(dataOf(await change(opened.acme, query, names), "project")).toEqual({
    artifactCollections: { totalCount: 1, edges: [{ node: { artifacts: { edges: versions } } }] },
  })
  const left = await createArtifact(opened.rival, { ...names, entity: "rival" }, artifactDigest({}))
  expect(await collectArtifacts(opened.app.stores, new Date(Date.now() + 1000))).toBeGreaterThan(0)
  const byId = await change(opened.rival, "query($id: ID!) { artifact(id: $id) { id } }", { id: left.id })
  expect(byId.data).toEqual({ artifact: null })
  expect(await versionOf(names, "v0")).toEqual({ versionIndex: 0 })
})

test("an artifact that a killed client left unfinished is removed with its contents after a day", async () => {
  const names = newNames()
  const { id } = await createArtifact(opened.acme, names, artifactDigest(contentsOf({ files: { a: "left behind" } })))
  const [node] = await askForFiles(opened.acme, [{ artifactID: id, name: "a", md5: md5("left behind") }])
  await put(opened, node?.uploadUrl ?? "", "left behind")
  const { blobs } = opened.app.stores
  expect(await collectArtifacts(opened.app.stores, new Date(0))).toBe(0)
  expect(await blobs.has(sha256("left behind"))).toBe(true)
  expect(await collectArtifacts(opened.app.stores, new Date(Date.now() + 1000))).toBeGreaterThan(0)
  expect(await blobs.has(sha256("left behind"))).toBe(false)
  await put(opened, node?.uploadUrl ?? "", "left behind", 404)
})

/** As if nothing had been heard of the artifact, nor of the runs of its project, for two days. */
async function age(id: string): Promise<void> {
  const { catalog } = opened.app.stores
  const past = sql`now() - interval '2 days'`
  await sql`update artifacts set created_at = ${past}, updated_at = ${past} where id = ${localOf(id)}`.execute(catalog)
  await sql`update runs set heartbeat_at = ${past}
    where project_id = (select project_id from artifacts where id = ${localOf(id)})`.execute(catalog)
}

const collectOfYesterday = () => collectArtifacts(opened.app.stores, new Date(Date.now() - 24 * 60 * 60 * 1000))

test("platform-wandb 9.2: an upload that takes days stays while anything of it comes, and is committed", async () => {
  const names = newNames()
  const contents = contentsOf({ files: { a: "slow", b: "in parts" } })
  const manifest = manifestOf(contents)
  const shared = { ...names, input: { distributedID: "slow ones" } }
  const create = () => createArtifact(opened.acme, shared, artifactDigest(contents))
  const { id } = await create()
  const part = { partNumber: 1, hexMD5: md5("in parts", "hex") }
  const ask = async (name: string, content: string, more = {}) =>
    (await askForFiles(opened.acme, [{ artifactID: id, name, md5: md5(content), ...more }]))[0]
  const file = await ask("a", "slow")
  const parts = await ask("b", "in parts", { uploadPartsInput: [part] })
  const upload = parts?.uploadMultipartUrls
  const address = await manifestAddress(opened.acme, id, manifest)
  const completed = {
    completeMultipartAction: "Complete",
    completedParts: [part],
    artifactID: id,
    storagePath: parts?.storagePath,
    uploadID: upload?.uploadID,
  }
  const works: (() => Promise<unknown>)[] = [
    () => expect(commit(opened.acme, id)).rejects.toThrow("the manifest of this artifact was not stored"),
    create,
    () => ask("a", "slow"),
    () => put(opened, file?.uploadUrl ?? "", "slow"),
    () => put(opened, upload?.uploadUrlParts[0]?.uploadUrl ?? "", "in parts"),
    () => mutate("completeMultipartUploadArtifact", completed, "digest"),
    () => manifestAddress(opened.acme, id, manifest),
    () => put(opened, address, manifest),
  ]
  for (const work of works) {
    await age(id)
    await work()
    await collectOfYesterday()
  }
  expect(await commit(opened.acme, id)).toMatchObject({ id, versionIndex: 0 })
})

test("platform-wandb 9.2: what several processes make together stays while a run of them goes on", async () => {
  const names = newNames()
  const { entity, project } = names
  const begin = (name: string, groupName: string | null) =>
    upsertRun(opened.acme, { entityName: entity, modelName: project, name, groupName })
  const beat = (run: string) => opened.acme.post(streamPath({ entity, project, run }), {})
  await begin("first", null)
  await begin("second", "night")
  await begin("third", "another group")
  const shared = { ...names, input: { distributedID: "night", runName: "first" } }
  const { id } = await createArtifact(opened.acme, shared, artifactDigest({}))
  for (const run of ["first", "second"]) {
    await age(id)
    expect((await beat(run)).status).toBe(200)
    await collectOfYesterday()
    expect((await createArtifact(opened.acme, shared, artifactDigest({}))).id).toBe(id)
  }
  await age(id)
  await beat("third")
  expect(await collectOfYesterday()).toBe(1)

  // What a run makes by itself and never ends goes, also while the run goes on: nobody could delete it.
  const own = await createArtifact(
    opened.acme,
    { ...newNames(), entity, project, input: { runName: "first" } },
    artifactDigest({}),
  )
  await age(own.id)
  await beat("first")
  expect(await collectOfYesterday()).toBe(1)
})

test("law 1: a version that is committed while abandoned artifacts are removed stays", async () => {
  const content = `in both ${randomUUID()}`
  const { blobs, catalog } = opened.app.stores
  const begin = async () => {
    const names = newNames()
    return { names, id: (await sendArtifact(opened, opened.acme, { ...names, files: { a: content } })).id }
  }
  const both = [await begin(), await begin()]
  const left = async () => {
    const there = await Promise.all(
      both.map(({ id }) => catalog.selectFrom("artifacts").select("id").where("id", "=", localOf(id)).execute()),
    )
    return both.filter((_, place) => there[place]?.length === 1)
  }
  // After the first of them, the removal waits for the file of both.
  const goOn = Promise.withResolvers<boolean>()
  const held = blobs.removeUnless(sha256(content), () => goOn.promise)
  const collected = collectArtifacts(opened.app.stores, new Date(Date.now() + 1000))
  await expect.poll(async () => (await left()).length).toBe(1)
  const [other] = await left()
  await commit(opened.acme, other?.id ?? "")
  goOn.resolve(true)
  await Promise.all([held, collected])
  expect(await versionOf(other?.names ?? newNames(), "latest")).toEqual({ versionIndex: 0 })
})

test("parts of a file whose last part never came are removed with it after a day", async () => {
  const names = newNames()
  const parts = ["the first part", "one that never comes"]
  const whole = parts.join("")
  const { id } = await createArtifact(opened.acme, names, artifactDigest(contentsOf({ files: { whole } })))
  const uploadPartsInput = parts.map((part, place) => ({ partNumber: place + 1, hexMD5: md5(part, "hex") }))
  const [node] = await askForFiles(opened.acme, [{ artifactID: id, name: "whole", md5: md5(whole), uploadPartsInput }])
  const [first] = node?.uploadMultipartUrls?.uploadUrlParts ?? []
  await put(opened, first?.uploadUrl ?? "", "the first part")
  const { blobs } = opened.app.stores
  expect(await collectArtifacts(opened.app.stores, new Date(0))).toBe(0)
  expect(await blobs.has(sha256("the first part"))).toBe(true)
  expect(await collectArtifacts(opened.app.stores, new Date(Date.now() + 1000))).toBeGreaterThan(0)
  expect(await blobs.has(sha256("the first part"))).toBe(false)
  await put(opened, first?.uploadUrl ?? "", "the first part", 404)
})

test("platform-wandb 9.2: a part that is announced anew with another content takes the place of the one before, and of its bytes", async () => {
  const names = newNames()
  const { id } = await createArtifact(opened.acme, names, artifactDigest(contentsOf({ files: { whole: "w" } })))
  const announce = async (part: string) => {
    const uploadPartsInput = [{ partNumber: 1, hexMD5: md5(part, "hex") }]
    const [node] = await askForFiles(opened.acme, [{ artifactID: id, name: "whole", md5: md5("w"), uploadPartsInput }])
    return node?.uploadMultipartUrls?.uploadUrlParts[0]?.uploadUrl ?? ""
  }
  const [before, first] = [await stored(), "a part ".repeat(100_000)]
  const address = await announce(first)
  await put(opened, address, first)
  await expect.poll(stored).toBe(before + first.length)
  expect(await announce(first)).not.toBe("")
  expect(await opened.app.stores.blobs.has(sha256(first))).toBe(true)
  await announce("another part")
  expect(await opened.app.stores.blobs.has(sha256(first))).toBe(false)
  await expect.poll(stored).toBe(before)
  await put(opened, address, first, 400)
})
