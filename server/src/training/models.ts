/** Rules of making and deleting models (training-api 1.2). */
import { type Membership, ownTeam, requireRight } from "../access/can.ts"
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { createModel, findModelByName, type ModelRecord } from "../storage/catalog/training/models.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { ensureProject, findProject } from "../storage/catalog/accounts/projects.ts"
import { adoptEarlierVersions, type LoraStores } from "../storage/lora-artifacts.ts"
import type { CreateModelBody, Model } from "../wire/training/model.ts"
import type { BaseModels } from "./base-models.ts"

interface MadeFrom extends LoraStores {
  baseModels: BaseModels
}

/**
 * Versions of the `lora` artifact of the name that were logged before are its checkpoints. For a model that exists they are
 * looked for too: the request that made it may have been interrupted. It is given whatever becomes of them.
 * @throws {HeddleError} 403 unknown entity; 422 unknown base model; 409 the name is taken and
 * `return_existing` is false.
 */
export async function makeModel(
  dependencies: MadeFrom,
  principal: Principal,
  body: CreateModelBody,
): Promise<ModelRecord> {
  const { model, isNew } = await existingOrMade(dependencies, principal, body)
  await adoptEarlierVersions(dependencies, model).catch((error: unknown) => {
    if (isNew) throw error
  })
  return model
}

async function existingOrMade(
  { database, baseModels }: MadeFrom,
  principal: Principal,
  body: CreateModelBody,
): Promise<{ model: ModelRecord; isNew: boolean }> {
  const entity = entityNamed(principal, body.entity ?? null)
  const id = await findProject(database, entity.id, body.project)
  requireRight(principal, principal.right, { id, entityId: entity.id, name: `${entity.name}/${body.project}` })
  const existing = await existingModel(database, entity, body)
  if (existing !== null) return { model: existing, isNew: false }
  const base = await baseModels.find(body.base_model, principal)
  const projectId = await ensureProject(database, entity.id, body.project)
  const model = { projectId, name: body.name, baseModel: base.name, basePath: base.path }
  const made = await createModel(database, model)
  if (made !== null) return { model: made, isNew: true }
  // Another request took the name meanwhile.
  const winner = await existingModel(database, entity, body)
  if (winner !== null) return { model: winner, isNew: false }
  throw new HeddleError("conflict", nameTaken(entity, body))
}

async function existingModel(
  database: CatalogDatabase,
  entity: Membership,
  body: CreateModelBody,
): Promise<ModelRecord | null> {
  const projectId = await findProject(database, entity.id, body.project)
  const model = projectId === null ? null : await findModelByName(database, projectId, body.name)
  if (model === null || body.return_existing) return model
  throw new HeddleError("conflict", nameTaken(entity, body))
}

function nameTaken(entity: Membership, body: CreateModelBody): string {
  return (
    `${entity.name}/${body.project} has a model "${body.name}" already; ` +
    "send return_existing: true to use it, or choose another name"
  )
}

function entityNamed(principal: Principal, name: string | null): Membership {
  if (name === null) return principal.defaultEntity
  const entity = ownTeam(principal, name)
  if (entity !== undefined) return entity
  const yours = principal.entities.map((candidate) => candidate.name).join(", ")
  throw new HeddleError("forbidden", `this key has no access to an entity "${name}"; it has access to: ${yours}`)
}

export function toWireModel(model: ModelRecord): Model {
  const { id, entity, project, name } = model
  return { id, entity, project, name, base_model: model.baseModel, run_id: model.runId }
}
