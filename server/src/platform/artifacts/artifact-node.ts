/** Versions, their places in collections, and collections, as GraphQL shows them: platform-wandb 3.2, 4. */
import { teamIds } from "../../access/can.ts"
import { makerOf, type RunName, usersOf } from "../../storage/catalog/artifacts/artifact-lineage.ts"
import { type AliasRecord, aliasesOf, listAliases } from "../../storage/catalog/artifacts/artifact-aliases.ts"
import {
  type ArtifactRecord,
  artifactsOf,
  countVersions,
  findMembership,
  latestArtifact,
  listVersions,
  type MembershipRecord,
  membershipsOf,
} from "../../storage/catalog/artifacts/artifacts.ts"
import { type CollectionRecord, findCollectionById } from "../../storage/catalog/artifacts/artifact-collections.ts"
import { HeddleError } from "../../errors.ts"
import { isJsonObject, tryParse } from "../../json/parsed-json.ts"
import { type RunContext, withContentsForReaders } from "../runs/run-context.ts"
import { globalId } from "../runs/run-ids.ts"
import { describeNamedProject } from "../runs/named-project.ts"
import { once } from "../runs/run-reads.ts"
import { artifactFiles, manifestAddress } from "./artifact-files.ts"
import { type PageArguments, pageInfo, pageOf, wholeConnection } from "./artifact-pages.ts"

export function ownEntities({ principal }: Pick<RunContext, "principal">): string[] {
  return teamIds(principal)
}

/** The value that the client reads as "none set". */
const noTimeToLive = -2

/** Fields with what is in an artifact, and those that lead to other versions. */
const contentFields = [
  "description",
  "metadata",
  "tags",
  "aliases",
  "currentManifest",
  "files",
  "filesByManifestEntries",
  "createdBy",
  "usedBy",
  "artifactMemberships",
]

/** `aliases`: of all that are described together, read once when the first is asked for. */
export function describeArtifact(
  context: RunContext,
  artifact: ArtifactRecord,
  aliases: () => Promise<AliasRecord[]> = once(() => aliasesOf(context.database, [artifact.id])),
) {
  return withContentsForReaders(context, wholeArtifact(context, artifact, aliases), contentFields)
}

function wholeArtifact(context: RunContext, artifact: ArtifactRecord, aliases: () => Promise<AliasRecord[]>) {
  const { database } = context
  const own = ownEntities(context)
  return {
    __typename: "Artifact",
    id: globalId("Artifact", artifact.id),
    state: artifact.state === "pending" ? "PENDING" : "COMMITTED",
    versionIndex: artifact.version,
    digest: artifact.digest,
    digestAlgorithm: "MANIFEST_MD5",
    description: artifact.description,
    metadata: artifact.metadata,
    tags: artifact.tags.map(describeTag),
    ttlDurationSeconds: artifact.ttl_seconds ?? noTimeToLive,
    ttlIsInherited: artifact.ttl_is_inherited,
    historyStep: artifact.history_step,
    size: artifact.size_bytes,
    fileCount: artifact.file_count,
    commitHash: artifact.id,
    createdAt: artifact.created_at.toISOString(),
    updatedAt: artifact.updated_at.toISOString(),
    artifactType: { __typename: "ArtifactType", name: artifact.type },
    artifactSequence: {
      __typename: "ArtifactSequence",
      id: globalId("ArtifactCollection", artifact.collection_id),
      name: artifact.collection,
      project: describeNamedProject(context, artifact),
      digestAlgorithm: "MANIFEST_MD5",
      latestArtifact: async () => {
        const latest = await latestArtifact(database, artifact.collection_id)
        return latest === null ? null : { id: globalId("Artifact", latest.id), versionIndex: latest.version }
      },
    },
    aliases: async () =>
      (await aliases()).filter((one) => one.artifact_id === artifact.id).map((one) => describeAlias(context, one)),
    currentManifest: () => ({
      id: globalId("ArtifactManifest", artifact.id),
      file: { name: "wandb_manifest.json", directUrl: () => manifestAddress(context, artifact) },
    }),
    files: (given: Parameters<typeof artifactFiles>[2]) => artifactFiles(context, artifact, given),
    filesByManifestEntries: ({ entries }: { entries?: readonly unknown[] | null }) =>
      artifactFiles(context, artifact, {
        names: (entries ?? []).flatMap((entry) =>
          isJsonObject(entry) && typeof entry["name"] === "string" ? [entry["name"]] : [],
        ),
        first: entries?.length ?? 0,
      }),
    createdBy: async () => {
      const run = await makerOf(database, own, artifact.run_id)
      return run === null ? null : describeRunName(context, run)
    },
    usedBy: async () =>
      wholeConnection((await usersOf(database, own, artifact.id)).map((run) => describeRunName(context, run))),
    artifactMemberships: async () => {
      const places = await membershipsOf(database, artifact.id)
      return wholeConnection(places.map((place) => describeMembership(context, place, artifact)))
    },
  }
}

function describeRunName(context: RunContext, run: RunName) {
  return {
    __typename: "Run",
    id: globalId("Run", run.id),
    name: run.name,
    project: describeNamedProject(context, run),
  }
}

/** Versions with their aliases, of which all are read at once. */
export function describeArtifacts(context: RunContext, artifacts: readonly ArtifactRecord[]) {
  const ids = artifacts.map(({ id }) => id)
  const aliases = once(() => aliasesOf(context.database, ids))
  return artifacts.map((artifact) => describeArtifact(context, artifact, aliases))
}

function describeAlias(context: RunContext, alias: AliasRecord) {
  return {
    __typename: "ArtifactAlias",
    id: globalId("ArtifactAlias", alias.id),
    alias: alias.alias,
    artifactCollection: {
      __typename: alias.kind === "sequence" ? "ArtifactSequence" : "ArtifactPortfolio",
      id: globalId("ArtifactCollection", alias.collection_id),
      name: alias.collection,
      project: describeNamedProject(context, alias),
    },
  }
}

export function describeMembership(
  context: RunContext,
  { id, collection_id, version, created_at }: MembershipRecord,
  artifact: ArtifactRecord,
) {
  const { database } = context
  const aliases = once(() => aliasesOf(database, [artifact.id]))
  return {
    __typename: "ArtifactCollectionMembership",
    id: globalId("ArtifactMembership", id),
    versionIndex: version,
    createdAt: created_at.toISOString(),
    aliases: async () =>
      (await aliases())
        .filter((alias) => alias.collection_id === collection_id)
        .map((alias) => describeAlias(context, alias)),
    artifactCollection: async () => {
      const collection = await context.reads.load(() =>
        findCollectionById(database, ownEntities(context), collection_id),
      )
      return collection === null ? null : describeCollection(context, collection)
    },
    artifact: describeArtifact(context, artifact, aliases),
    files: (given: Parameters<typeof artifactFiles>[2]) => artifactFiles(context, artifact, given),
  }
}

export function describeTag(name: string) {
  return { __typename: "Tag", id: globalId("Tag", name), name }
}

export function describeType({ name, created_at }: { name: string; created_at: Date }) {
  return {
    __typename: "ArtifactType",
    id: globalId("ArtifactType", name),
    name,
    description: null,
    createdAt: created_at.toISOString(),
  }
}

interface VersionsArguments extends PageArguments {
  filters?: unknown
}

export function describeCollection(context: RunContext, collection: CollectionRecord) {
  const { database } = context
  return {
    __typename: collection.kind === "sequence" ? "ArtifactSequence" : "ArtifactPortfolio",
    id: globalId("ArtifactCollection", collection.id),
    name: collection.name,
    description: collection.description,
    createdAt: collection.created_at.toISOString(),
    updatedAt: collection.updated_at.toISOString(),
    state: "READY",
    digestAlgorithm: "MANIFEST_MD5",
    project: describeNamedProject(context, collection),
    defaultArtifactType: { __typename: "ArtifactType", name: collection.type },
    tags: wholeConnection(collection.tags.map(describeTag)),
    aliases: async ({ after, first }: PageArguments) => {
      const limit = Math.min(Math.max(first ?? 100, 1), 1000)
      const last = after ? Buffer.from(after, "base64").toString("utf8") : null
      const found = await listAliases(database, collection.id, last, limit + 1)
      const items = found.slice(0, limit)
      const end = items.at(-1)
      return {
        edges: items.map((alias) => ({ node: describeAlias(context, alias) })),
        pageInfo: pageInfo(found.length > limit, end === undefined ? null : Buffer.from(end.alias).toString("base64")),
      }
    },
    artifacts: (given: VersionsArguments) => versionsOf(context, collection, given),
    artifactMembership: async ({ aliasName }: { aliasName?: string | null }) => {
      const membership = aliasName ? await findMembership(database, collection.id, aliasName) : null
      const ids = membership === null ? [] : [membership.artifact_id]
      const [artifact] = await context.reads.load(() => artifactsOf(database, ids))
      return membership === null || artifact === undefined ? null : describeMembership(context, membership, artifact)
    },
  }
}

async function versionsOf(context: RunContext, { id }: CollectionRecord, given: VersionsArguments): Promise<object> {
  const { database } = context
  const tag = tagOf(given.filters)
  const { items, cursors, pageInfo: info } = await pageOf(given, (page) => listVersions(database, id, tag, page))
  const ids = items.map(({ artifact_id: artifactId }) => artifactId)
  const artifacts = await context.reads.load(() => artifactsOf(database, ids))
  const described = new Map(describeArtifacts(context, artifacts).map((one) => [one.id, one]))
  return {
    totalCount: () => countVersions(database, id, tag),
    edges: items.flatMap(({ artifact_id, version }, index) => {
      const node = described.get(globalId("Artifact", artifact_id))
      return node === undefined ? [] : [{ version: `v${version}`, node, cursor: cursors[index] }]
    }),
    pageInfo: info,
  }
}

/** The client filters by state, of which readers see one, and by tag. @throws {HeddleError} `bad_query` for another filter. */
function tagOf(filters: unknown): string | null {
  if (filters === undefined || filters === null || filters === "") return null
  const value = typeof filters === "string" ? tryParse(filters) : filters
  if (!isJsonObject(value)) throw new HeddleError("bad_query", "filters of artifacts is a JSON object")
  const { state = "COMMITTED", tag = null, ...others } = value
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) {
    throw new HeddleError("bad_query", `artifacts are not filtered by "${unknown}"; filter by state and tag`)
  }
  if (state !== "COMMITTED") {
    throw new HeddleError("bad_query", `artifacts in the state ${JSON.stringify(state)} are not listed`)
  }
  const wanted: unknown = isJsonObject(tag) ? (tag["$eq"] ?? tag["$in"]) : tag
  const [one] = Array.isArray(wanted) && wanted.length === 1 ? (wanted as unknown[]) : [wanted]
  if (one !== null && typeof one !== "string") throw new HeddleError("bad_query", "artifacts are filtered by one tag")
  return one
}
