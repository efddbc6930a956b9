/** Artifacts of two teams with the same names, and of another team: platform-wandb 9, security 5.3. */
import { createHash, randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { EvaluationCaller } from "../support/evaluation-app.ts"
import { type EvaluationApp, evaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import {
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
} from "../support/wandb-artifacts.ts"
import { ask, startRun } from "../support/wandb-runs.ts"

/** Names that both teams use. */
const project = "same"
const run = "same-run"
const collection = "same-artifact"
const secretText = "what only acme has"

let opened: EvaluationApp
let acmeId: string
let rivalId: string
beforeAll(async () => {
  opened = await openEvaluationApp()
  const logFor = async (caller: EvaluationCaller, text: string) => {
    const { entity } = caller
    await startRun(caller, { entity, project, run })
    const { id } = await logArtifact(opened, caller, {
      entity,
      project,
      collection,
      files: { "data.txt": text },
      input: { runName: run, clientID: `client-of-${entity}` },
    })
    return id
  }
  acmeId = await logFor(opened.acme, secretText)
  rivalId = await logFor(opened.rival, "what rival has")
})
afterAll(() => opened.close())

const hexOf = (text: string) => md5(text, "hex")

test("the same names are different things", async () => {
  for (const [caller, id, text] of [
    [opened.acme, acmeId, secretText],
    [opened.rival, rivalId, "what rival has"],
  ] as const) {
    const names = { entity: caller.entity, project }
    expect(await readArtifact(caller, names, `${collection}:latest`, "id versionIndex")).toEqual({
      id,
      versionIndex: 0,
    })
    const [file] = await filesOf(caller, names, `${collection}:v0`)
    expect((await fetchFrom(opened, file?.directUrl ?? "")).payload).toBe(text)
  }
  expect(acmeId).not.toBe(rivalId)
})

test("a content that another team has is asked for, as if nobody had it", async () => {
  const names = { entity: "rival", project, collection: "copy" }
  const log = { ...names, files: { "data.txt": secretText } }
  const { id } = await createArtifact(opened.rival, log, artifactDigest(contentsOf(log)))
  const [node] = await askForFiles(opened.rival, [{ artifactID: id, name: "data.txt", md5: md5(secretText) }])
  expect(node?.uploadUrl).not.toBeNull()
  // A commit that names the content's digest, or the artifact that has it, does not get it either.
  const contents = contentsOf(log)
  for (const birth of [undefined, acmeId]) {
    const entry = contents["data.txt"]
    if (entry !== undefined && birth !== undefined) entry.birthArtifactID = birth
    const manifest = manifestOf(contents)
    await put(opened, await manifestAddress(opened.rival, id, manifest), manifest)
    await expect(commit(opened.rival, id)).rejects.toThrow('the file "data.txt" of the manifest was never stored here')
  }
})

test("a version of another project of the team brings its files along", async () => {
  const contents = contentsOf({ files: { "data.txt": secretText } })
  const entry = contents["data.txt"]
  if (entry !== undefined) entry.birthArtifactID = acmeId
  const names = { entity: "acme", project: "other", collection: "draft" }
  const { id } = await createArtifact(opened.acme, names, artifactDigest(contents))
  const manifest = manifestOf(contents)
  await put(opened, await manifestAddress(opened.acme, id, manifest), manifest)
  await commit(opened.acme, id)
  const [file] = await filesOf(opened.acme, names, "draft:latest")
  expect((await fetchFrom(opened, file?.directUrl ?? "")).payload).toBe(secretText)
})

const reads: [string, string][] = [
  ["artifact by id", "query($id: ID!) { x: artifact(id: $id) { id digest } }"],
  ["client id", "query($client: ID!) { x: clientIDMapping(clientID: $client) { serverID } }"],
  ["project", "query($entity: String, $project: String) { x: project(name: $project, entityName: $entity) { id } }"],
  [
    "membership",
    `query($entity: String, $project: String, $name: String!) { x: project(name: $project, entityName: $entity) {
      artifactCollectionMembership(name: $name) { id artifact { id } } } }`,
  ],
]

test.each(reads)("what another team asks of it, by %s, is null", async (_, query) => {
  const variables = { id: acmeId, client: "client-of-acme", entity: "acme", project, name: `${collection}:latest` }
  expect(await ask(opened.rival, query, variables)).toEqual({ data: { x: null } })
  expect((await ask(opened.acme, query, variables)).data).not.toEqual({ x: null })
})

const changes: [name: string, input: object][] = [
  ["updateArtifact", { description: "mine now" }],
  ["deleteArtifact", { deleteAliases: true }],
  ["commitArtifact", {}],
  ["useArtifact", { entityName: "rival", projectName: project, runName: run }],
  ["addAliases", { aliases: [{ artifactCollectionName: collection, alias: "mine" }] }],
  ["deleteAliases", { aliases: [{ artifactCollectionName: collection, alias: "latest" }] }],
  ["linkArtifact", { entityName: "rival", projectName: project, artifactPortfolioName: "stolen" }],
  ["createArtifactManifest", { name: "m", digest: "", type: "FULL" }],
]

test.each(changes)("%s of another team's artifact is refused as one that is not there", async (name, input) => {
  const literal = (value: unknown): string =>
    Array.isArray(value)
      ? `[${value.map(literal).join(", ")}]`
      : typeof value === "object" && value !== null
        ? `{ ${Object.entries(value)
            .map(([key, inner]) => `${key}: ${literal(inner)}`)
            .join(", ")} }`
        : JSON.stringify(value)
  const send = async (artifactID: string) => {
    const query = `mutation { ${name}(input: ${literal({ artifactID, ...input })}) { __typename } }`
    const { data, errors } = await ask(opened.rival, query)
    return [data, errors?.[0]?.message.replace(artifactID, "X")]
  }
  const nowhere = Buffer.from(`Artifact:${randomUUID()}`).toString("base64")
  const answer = await send(acmeId)
  expect(answer).toEqual(await send(nowhere))
  expect(answer[1]).toBe('no artifact of the id "X": it was deleted, or you are not in its team')
  const own = await readArtifact(
    opened.acme,
    { entity: "acme", project },
    `${collection}:latest`,
    "description aliases { alias }",
  )
  expect(own).toMatchObject({ description: null })
})

test("its files are not fetched by their storage path, in one's own name or in theirs", async () => {
  const path = (entity: string, id: string, text: string) =>
    `/artifactsV2/default/${entity}/${encodeURIComponent(id)}/${hexOf(text)}`
  expect((await opened.acme.get(path("acme", acmeId, secretText))).text).toBe(secretText)
  for (const address of [
    path("acme", acmeId, secretText),
    path("rival", acmeId, secretText),
    path("rival", rivalId, secretText),
    path("acme", rivalId, "what rival has"),
  ]) {
    expect((await opened.rival.get(address)).status).toBe(404)
  }
})

test("an address is of one file for one use, and of a key that lives", async () => {
  const [file] = await filesOf(opened.acme, { entity: "acme", project }, `${collection}:latest`)
  const path = new URL(file?.directUrl ?? "").pathname
  const token = path.split("/").at(-1) ?? ""
  const [content = "", signature] = token.split(".")
  const other = JSON.parse(Buffer.from(content, "base64url").toString()) as unknown[]
  const forged = Buffer.from(JSON.stringify(other.with(1, rivalId))).toString("base64url")
  for (const url of [`/artifactsV2/direct/${forged}.${signature}`, `/files/direct/${token}`]) {
    expect((await opened.app.server.inject({ url })).statusCode).toBe(404)
  }
  expect(
    (await opened.app.server.inject({ method: "PUT", url: `/artifactsV2/upload/${token}`, payload: "x" })).statusCode,
  ).toBe(404)
  const colleague = await opened.addColleague("leaver")
  const [theirs] = await filesOf(colleague, { entity: "acme", project }, `${collection}:latest`)
  expect((await fetchFrom(opened, theirs?.directUrl ?? "")).statusCode).toBe(200)
  await opened.app.stores.catalog
    .updateTable("api_keys")
    .set({ revoked_at: new Date() })
    .where("sha256", "=", createHash("sha256").update(colleague.key).digest("hex"))
    .execute()
  expect((await fetchFrom(opened, theirs?.directUrl ?? "")).payload).toContain(
    "the key that made this address was revoked",
  )
})

test("security 5.3: an address stores only while its maker may write there, and shows only while the maker is in the team", async () => {
  const maker = await opened.addColleague("maker-of-addresses")
  const names = { entity: "acme", project, collection: "unfinished" }
  const log = { ...names, files: { "new.txt": "new" } }
  const { id } = await createArtifact(maker, log, artifactDigest(contentsOf(log)))
  const [node] = await askForFiles(maker, [{ artifactID: id, name: "new.txt", md5: md5("new") }])
  const [file] = await filesOf(maker, { entity: "acme", project }, `${collection}:latest`)
  const member = "/v1/organization/teams/acme/members/maker-of-addresses"
  expect((await opened.admin.post(member, { role: "viewer" })).status).toBe(200)
  const upload = new URL(node?.uploadUrl ?? "").pathname
  const stored = await opened.app.server.inject({ method: "PUT", url: upload, payload: "new" })
  expect([stored.statusCode, stored.payload]).toEqual([404, expect.stringContaining("may not write there any more")])
  expect((await fetchFrom(opened, file?.directUrl ?? "")).statusCode).toBe(200)
  expect((await opened.admin.delete(member)).status).toBe(200)
  expect((await fetchFrom(opened, file?.directUrl ?? "")).statusCode).toBe(404)
})

test("a key for ingest is told which run and version it writes, and nothing that is in them", async () => {
  const { body } = await opened.acme.post("/v1/organization/api_keys", { name: "application", scope: "ingest" })
  const { value: key } = body as { value: string }
  const ingest = evaluationCaller(() => opened.app, { key, entity: "acme" })
  const inside = `id metadata description files { edges { node { directUrl } } } currentManifest { file { directUrl } }
    artifactMemberships { edges { node { artifactCollection { artifacts { edges { node { metadata } } } } } } }`
  const nothing = { metadata: null, description: null, files: null, currentManifest: null, artifactMemberships: null }
  const writeRun = `mutation($entity: String, $project: String, $run: String) {
    x: upsertBucket(input: { entityName: $entity, modelName: $project, name: $run }) {
      bucket { name notes tags outputArtifacts { edges { node { ${inside} } } } }
    }
  }`
  const at = { entity: "acme", project, run }
  expect((await ask(opened.acme, writeRun, at)).data).not.toMatchObject({ x: { bucket: { outputArtifacts: null } } })
  expect((await ask(ingest, writeRun, at)).data).toEqual({
    x: { bucket: { name: run, notes: null, tags: null, outputArtifacts: null } },
  })
  const digest = artifactDigest(contentsOf({ files: { "data.txt": secretText } }))
  const again = `mutation($entity: String, $project: String, $collection: String, $digest: String) {
    x: createArtifact(input: { entityName: $entity, projectName: $project, artifactTypeName: "dataset",
      artifactCollectionName: $collection, digest: $digest, enableDigestDeduplication: true }) { artifact { ${inside} } }
  }`
  expect((await ask(ingest, again, { ...at, collection, digest })).data).toEqual({
    x: { artifact: { id: acmeId, ...nothing } },
  })
})

test("a version is linked to collections of its own team only", async () => {
  const link = `mutation($id: ID!) { linkArtifact(input: { artifactID: $id, entityName: "rival", projectName: "same",
    artifactPortfolioName: "p" }) { versionIndex } }`
  await expect(change(opened.acme, link, { id: acmeId })).rejects.toThrow('no team "rival"')
})
