/** From what a mutation names to what it may change. Another team's is not told from what is not there. */
import { type Membership, ownTeam, requireRightIn } from "../../access/can.ts"
import { HeddleError } from "../../errors.ts"
import { type ArtifactRecord, findArtifact } from "../../storage/catalog/artifacts/artifacts.ts"
import { type CollectionRecord, findCollectionById } from "../../storage/catalog/artifacts/artifact-collections.ts"
import { noteWork } from "../../storage/catalog/artifacts/pending-artifacts.ts"
import { findProject } from "../../storage/catalog/accounts/projects.ts"
import { workForTeam } from "../../work/work-scope.ts"
import type { RunContext } from "../runs/run-context.ts"
import { localId } from "../runs/run-ids.ts"
import { ownEntities } from "./artifact-node.ts"

/** @throws {HeddleError} `not_found`, `forbidden`. */
export async function requireArtifact(context: RunContext, id: string): Promise<ArtifactRecord> {
  const local = localId("Artifact", id)
  const artifact = local === null ? null : await findArtifact(context.database, ownEntities(context), local)
  if (artifact === null) {
    throw new HeddleError("not_found", `no artifact of the id "${id}": it was deleted, or you are not in its team`)
  }
  workForTeam(artifact.entity_id)
  requireRightIn(context.principal, artifact.project_id, artifact)
  return artifact
}

/** @throws {HeddleError} `not_found`; `invalid_request` when it is not committed, or is. */
export async function requireState(
  context: RunContext,
  id: string,
  state: ArtifactRecord["state"],
): Promise<ArtifactRecord> {
  const artifact = await requireArtifact(context, id)
  if (artifact.state === state) return artifact
  throw new HeddleError(
    "invalid_request",
    state === "pending"
      ? "the artifact is committed: nothing more can be added to it"
      : "the artifact is not committed yet",
  )
}

/** An artifact that the caller goes on with. @throws {HeddleError} as {@link requireState}. */
export async function requirePending(context: RunContext, id: string): Promise<ArtifactRecord> {
  const artifact = await requireState(context, id, "pending")
  await noteWork(context.database, [artifact])
  return artifact
}

/** No name: the caller's default entity. @throws {HeddleError} `not_found`. */
export function requireEntity({ principal }: RunContext, name: string | null | undefined): Membership {
  const entity = name ? ownTeam(principal, name) : principal.defaultEntity
  if (entity === undefined) {
    const own = principal.entities.map((one) => one.name).join(", ")
    throw new HeddleError("not_found", `no team "${name}", or you are not in it; your teams: ${own}`)
  }
  workForTeam(entity.id)
  return entity
}

/** @throws {HeddleError} `not_found`, `forbidden`. */
export async function requireProject(
  context: RunContext,
  entityName: string | null | undefined,
  projectName: string | null | undefined,
): Promise<{ entity: Membership; projectId: string }> {
  const entity = requireEntity(context, entityName)
  const projectId = projectName ? await findProject(context.database, entity.id, projectName) : null
  if (projectId === null) throw new HeddleError("not_found", `no project "${projectName}" in "${entity.name}"`)
  requireRightIn(context.principal, projectId, { entity: entity.name, project: projectName ?? "" })
  return { entity, projectId }
}

/** @throws {HeddleError} `not_found`, `forbidden`. */
export async function requireCollection(context: RunContext, id: string | null | undefined): Promise<CollectionRecord> {
  const local = localId("ArtifactCollection", id)
  const found = local === null ? null : await findCollectionById(context.database, ownEntities(context), local)
  if (found === null) {
    throw new HeddleError("not_found", `no collection of the id "${id}": it was deleted, or you are not in its team`)
  }
  workForTeam(found.entity_id)
  requireRightIn(context.principal, found.project_id, found)
  return found
}

/** As an entity for the quota. */
export function teamOf({ entity, entity_id }: Pick<ArtifactRecord, "entity" | "entity_id">): {
  id: string
  name: string
} {
  return { id: entity_id, name: entity }
}
