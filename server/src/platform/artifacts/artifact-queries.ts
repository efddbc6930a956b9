/** Fields of the query and of projects that lead to artifacts: platform-wandb 4, 9.3. */
import {
  collectionsOf as collectionsById,
  countCollections,
  findCollection,
  findCollectionById,
  listCollections,
  listTypes,
} from "../../storage/catalog/artifacts/artifact-collections.ts"
import { findByClientId, findArtifact, findNamedArtifact } from "../../storage/catalog/artifacts/artifacts.ts"
import { isStorable } from "../../storage/catalog/storable-text.ts"
import { listCheckpoints } from "../../storage/lora-artifacts.ts"
import { filterOf } from "../runs/given-filter.ts"
import type { RunContext } from "../runs/run-context.ts"
import { globalId, localId } from "../runs/run-ids.ts"
import { once } from "../runs/run-reads.ts"
import { describeArtifact, describeCollection, describeMembership, describeType, ownEntities } from "./artifact-node.ts"
import { type PageArguments, pageOf, wholeConnection } from "./artifact-pages.ts"

interface Named {
  name?: string | null
}

/** Fields of the query. What is another team's is not told from what is not there. */
export function artifactRoots(context: RunContext) {
  const { database } = context
  const own = ownEntities(context)
  return {
    artifact: async ({ id }: { id?: unknown }) => {
      const local = localId("Artifact", id)
      const artifact = local === null ? null : await findArtifact(database, own, local)
      return artifact === null ? null : describeArtifact(context, artifact)
    },
    artifactCollection: async ({ id }: { id?: unknown }) => {
      const local = localId("ArtifactCollection", id)
      const collection = local === null ? null : await findCollectionById(database, own, local)
      return collection === null ? null : describeCollection(context, collection)
    },
    clientIDMapping: async ({ clientID }: { clientID?: unknown }) => {
      const artifact = typeof clientID === "string" ? await findByClientId(database, own, clientID) : null
      return artifact === null ? null : { serverID: globalId("Artifact", artifact.id) }
    },
  }
}

/** `collection:alias`; without an alias the latest. */
export function versionNamed(name: string): { collection: string; alias: string } {
  const colon = name.indexOf(":")
  return colon === -1
    ? { collection: name, alias: "latest" }
    : { collection: name.slice(0, colon), alias: name.slice(colon + 1) }
}

/** `projectId`: of the catalog, one that the caller may see. */
export function artifactFields(context: RunContext, projectId: string) {
  const { database } = context
  // A job that ended meanwhile has made a version of its model's artifact.
  const listed = once(() => listCheckpoints(context, projectId))
  const versionOf = async (name: string | null | undefined, type: string | null) => {
    await listed()
    const found = name
      ? await context.reads.load(() => findNamedArtifact(database, projectId, versionNamed(name)))
      : null
    return found === null || (type !== null && found.collection.type !== type) ? null : found
  }
  const artifactOf =
    (type: string | null) =>
    async ({ name }: Named) => {
      const found = await versionOf(name, type)
      return found === null ? null : describeArtifact(context, found.artifact)
    }
  const collectionOf =
    (type: string | null) =>
    async ({ name }: Named) => {
      await listed()
      const found = name ? await context.reads.load(() => findCollection(database, projectId, name)) : null
      return found === null || (type !== null && found.type !== type) ? null : describeCollection(context, found)
    }
  const collectionsOf = (type: string | null) => async (given: PageArguments & { filters?: unknown }) => {
    await listed()
    const of = { projectId, type, filter: filterOf(given.filters) }
    const { items, cursors, pageInfo } = await pageOf(given, (page) => listCollections(database, { ...of, ...page }))
    const ids = items.map(({ id }) => id)
    const collections = await context.reads.load(() => collectionsById(database, ids))
    return {
      totalCount: () => countCollections(database, of),
      edges: collections.map((one, index) => ({ node: describeCollection(context, one), cursor: cursors[index] })),
      pageInfo,
    }
  }
  const fieldsOfType = (type: { name: string; created_at: Date }) => ({
    ...describeType(type),
    artifact: artifactOf(type.name),
    artifactCollection: collectionOf(type.name),
    artifactCollections: collectionsOf(type.name),
  })
  return {
    artifact: artifactOf(null),
    artifactCollection: collectionOf(null),
    artifactCollections: collectionsOf(null),
    artifactCollectionMembership: async ({ name }: Named) => {
      const found = await versionOf(name, null)
      return found === null ? null : describeMembership(context, found.membership, found.artifact)
    },
    artifactType: async ({ name }: Named) => {
      await listed()
      const [type] = name && isStorable(name) ? await listTypes(database, projectId, name) : []
      return type === undefined ? null : fieldsOfType(type)
    },
    artifactTypes: async () => {
      await listed()
      return wholeConnection((await listTypes(database, projectId, null)).map(fieldsOfType))
    },
  }
}
