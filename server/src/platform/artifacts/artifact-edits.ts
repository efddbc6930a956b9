/** Mutations about artifacts that are committed: platform-wandb 4, 9.3, 9.4. */
import { requireRightIn } from "../../access/can.ts"
import { ensureProjectWithoutRoom } from "../../access/project-access.ts"
import { HeddleError } from "../../errors.ts"
import {
  changeAliases,
  changeCollectionTags,
  deleteArtifacts,
  deleteCollection,
  linkArtifact,
  unlinkArtifact,
  updateArtifact,
  updateCollection,
} from "../../storage/catalog/artifacts/artifact-changes.ts"
import { linkRun } from "../../storage/catalog/artifacts/artifact-create.ts"
import { aliasesOf } from "../../storage/catalog/artifacts/artifact-aliases.ts"
import { type ArtifactRecord, findByClientId, membershipsOf } from "../../storage/catalog/artifacts/artifacts.ts"
import {
  type CollectionRecord,
  findCollection,
  findCollectionById,
} from "../../storage/catalog/artifacts/artifact-collections.ts"
import { findModelByName } from "../../storage/catalog/training/models.ts"
import {
  aliasesInput,
  collectionInput,
  collectionTagsInput,
  deleteArtifactInput,
  linkArtifactInput,
  unlinkArtifactInput,
  updateArtifactInput,
  useArtifactInput,
} from "../../wire/platform/artifact-inputs.ts"
import { namesOfRun, requireRun } from "../runs/run-access.ts"
import { checkedInput } from "../runs/checked-input.ts"
import type { RunContext } from "../runs/run-context.ts"
import { dropBlobs } from "../runs/run-dependencies.ts"
import { globalId } from "../runs/run-ids.ts"
import { requireCollection, requireEntity, requireProject, requireState } from "./artifact-access.ts"
import { timeToLive } from "./artifact-log.ts"
import { describeArtifact, describeCollection, describeMembership, describeTag, ownEntities } from "./artifact-node.ts"

interface Given {
  input?: unknown
}

export function artifactEditMutations(context: RunContext) {
  const { database, principal } = context
  const aliasChange = (mutation: string, change: "add" | "delete") => async (given: Given) => {
    const { artifactID, aliases } = checkedInput(mutation, aliasesInput, given.input)
    const artifact = await requireState(context, artifactID, "committed")
    const changes = aliases.map(({ alias, artifactCollectionName: collection, entityName, projectName }) => ({
      entity: entityName || artifact.entity,
      project: projectName || artifact.project,
      collection,
      alias,
    }))
    await changeAliases(database, artifact, changes, change, (at) => requireRightIn(principal, at.project_id, at))
    return { success: true }
  }
  const collectionChange = (mutation: string) => async (given: Given) => {
    const {
      name,
      description,
      destinationArtifactTypeName: type,
      ...ids
    } = checkedInput(mutation, collectionInput, given.input)
    const collection = await requireCollection(context, ids.artifactSequenceID ?? ids.artifactPortfolioID)
    if (name || type) await requireNoModel(context, collection)
    await updateCollection(database, collection, {
      ...(name ? { name } : {}),
      ...(description === null || description === undefined ? {} : { description }),
      ...(type ? { type } : {}),
    })
    const changed = await findCollectionById(database, ownEntities(context), collection.id)
    return { artifactCollection: describeCollection(context, changed ?? collection) }
  }
  const collectionDeletion = (mutation: string) => async (given: Given) => {
    const ids = checkedInput(mutation, collectionInput, given.input)
    const collection = await requireCollection(context, ids.artifactSequenceID ?? ids.artifactPortfolioID)
    await requireNoModel(context, collection)
    await dropBlobs(context, await deleteCollection(database, collection))
    return { artifactCollection: { ...describeCollection(context, collection), state: "DELETED" } }
  }
  const tagChange = (mutation: string, change: "add" | "delete") => async (given: Given) => {
    const { entityName, projectName, artifactCollectionName, tags } = checkedInput(
      mutation,
      collectionTagsInput,
      given.input,
    )
    const { projectId } = await requireProject(context, entityName, projectName)
    const collection = await findCollection(database, projectId, artifactCollectionName)
    if (collection === null) throw new HeddleError("not_found", `no collection "${artifactCollectionName}"`)
    const names = tags.map(({ tagName }) => tagName)
    await changeCollectionTags(database, collection, names, change)
    return { success: true, tags: names.map(describeTag) }
  }
  return {
    addAliases: aliasChange("addAliases", "add"),
    deleteAliases: aliasChange("deleteAliases", "delete"),
    updateArtifact: async ({ input }: Given) => {
      const given = checkedInput("updateArtifact", updateArtifactInput, input)
      const artifact = await requireState(context, given.artifactID, "committed")
      const { description, metadata, ttlDurationSeconds: ttl } = given
      await updateArtifact(database, artifact, {
        ...(description === null || description === undefined ? {} : { description }),
        ...(metadata === null || metadata === undefined ? {} : { metadata }),
        ...(ttl === null || ttl === undefined ? {} : { ttl: timeToLive(ttl) }),
        tagsToAdd: (given.tagsToAdd ?? []).map(({ tagName }) => tagName),
        tagsToDelete: (given.tagsToDelete ?? []).map(({ tagName }) => tagName),
        aliases: given.aliases?.map(({ alias }) => alias) ?? null,
      })
      return { artifact: describeArtifact(context, await requireState(context, given.artifactID, "committed")) }
    },
    deleteArtifact: async ({ input }: Given) => {
      const { artifactID, deleteAliases } = checkedInput("deleteArtifact", deleteArtifactInput, input)
      const artifact = await requireState(context, artifactID, "committed")
      if (artifact.checkpoint_id !== null) throw isCheckpoint(artifact)
      const aliases = (await aliasesOf(database, [artifact.id])).filter(({ alias }) => alias !== "latest")
      if (aliases.length > 0 && deleteAliases !== true) {
        const names = [...new Set(aliases.map(({ alias }) => alias))].join(", ")
        throw new HeddleError("invalid_request", `the version has the aliases ${names}; delete it with delete_aliases`)
      }
      await dropBlobs(context, await deleteArtifacts(database, artifact.project_id, [artifact.id]))
      return { artifact: { id: artifactID } }
    },
    useArtifact: async ({ input }: Given) => {
      const given = checkedInput("useArtifact", useArtifactInput, input)
      const artifact = await requireState(context, given.artifactID, "committed")
      const { run } = await requireRun(database, principal, namesOfRun(principal, given))
      await linkRun(database, artifact.id, run.id, "input")
      return { artifact: describeArtifact(context, artifact) }
    },
    linkArtifact: async ({ input }: Given) => link(context, input),
    unlinkArtifact: async ({ input }: Given) => {
      const { artifactID, artifactPortfolioID } = checkedInput("unlinkArtifact", unlinkArtifactInput, input)
      const artifact = await requireState(context, artifactID, "committed")
      const portfolio = await requireCollection(context, artifactPortfolioID)
      return { success: await unlinkArtifact(database, artifact, requirePortfolio(portfolio)) }
    },
    updateArtifactSequence: collectionChange("updateArtifactSequence"),
    updateArtifactPortfolio: collectionChange("updateArtifactPortfolio"),
    moveArtifactSequence: collectionChange("moveArtifactSequence"),
    deleteArtifactSequence: collectionDeletion("deleteArtifactSequence"),
    deleteArtifactPortfolio: collectionDeletion("deleteArtifactPortfolio"),
    createArtifactCollectionTagAssignments: tagChange("createArtifactCollectionTagAssignments", "add"),
    deleteArtifactCollectionTagAssignments: tagChange("deleteArtifactCollectionTagAssignments", "delete"),
  }
}

/** @throws {HeddleError} `invalid_request`: the collection holds a model's checkpoints, and goes with it. */
async function requireNoModel({ database }: RunContext, { project_id, name, type }: CollectionRecord): Promise<void> {
  if (type !== "lora" || (await findModelByName(database, project_id, name)) === null) return
  throw new HeddleError(
    "invalid_request",
    `"${name}" holds the checkpoints of the model of that name; delete the model, and they go with it`,
  )
}

function isCheckpoint({ collection, version }: ArtifactRecord): HeddleError {
  return new HeddleError(
    "invalid_request",
    `v${version} of "${collection}" is a checkpoint of the model of that name; ` +
      "delete the checkpoint (DELETE /v1/preview/models/{id}/checkpoints), and the version goes with it",
  )
}

function requirePortfolio(collection: CollectionRecord): CollectionRecord {
  if (collection.kind === "portfolio") return collection
  throw new HeddleError(
    "invalid_request",
    `"${collection.name}" holds what was logged to it; delete the version instead`,
  )
}

async function link(context: RunContext, input: unknown) {
  const { database, principal } = context
  const given = checkedInput("linkArtifact", linkArtifactInput, input)
  const mapped = given.clientID ? await findByClientId(database, ownEntities(context), given.clientID) : null
  const id = given.artifactID || (mapped === null ? "" : globalId("Artifact", mapped.id))
  const artifact = await requireState(context, id, "committed")
  const entity = requireEntity(context, given.entityName)
  if (entity.id !== artifact.entity_id) {
    throw new HeddleError(
      "invalid_request",
      `a version of "${artifact.entity}" is linked to collections of its own team; log it in "${entity.name}" instead`,
    )
  }
  const project = given.projectName || artifact.project
  const { id: projectId } = await ensureProjectWithoutRoom(database, principal, `${entity.name}/${project}`)
  const aliases = (given.aliases ?? []).map(({ alias }) => alias)
  const portfolioId = await linkArtifact(database, artifact, {
    projectId,
    portfolio: given.artifactPortfolioName,
    aliases,
  })
  const place = (await membershipsOf(database, artifact.id)).find((one) => one.collection_id === portfolioId)
  if (place === undefined) throw new HeddleError("not_found", "the version was deleted while it was linked")
  return { versionIndex: place.version, artifactMembership: describeMembership(context, place, artifact) }
}
