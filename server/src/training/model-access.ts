/** Looking up what a path names, for whoever asks. What a key may not see does not exist for it. */
import { ownTeam, requireRightIn, teamIds } from "../access/can.ts"
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { findModel, type ModelRecord } from "../storage/catalog/training/models.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { findJob, type NamedJob } from "../storage/catalog/training/training-jobs.ts"
import { usageOf } from "../storage/team-usage.ts"

/** @throws {HeddleError} `quota_exceeded` when the model's team has no room for so many bytes. */
export async function requireRoomFor(
  database: CatalogDatabase,
  principal: Principal,
  model: ModelRecord,
  bytes: number,
): Promise<void> {
  const entity = ownTeam(principal, model.entity)
  if (entity !== undefined) await usageOf(database)?.requireRoom(entity, bytes)
}

/** @throws {HeddleError} `not_found`, `forbidden` */
export async function modelOf(database: CatalogDatabase, principal: Principal, id: string): Promise<ModelRecord> {
  const model = await findModel(database, teamIds(principal), id)
  if (model === null) throw noSuchModel(id)
  requireRightIn(principal, model.projectId, model)
  return model
}

export function noSuchModel(id: string): HeddleError {
  return new HeddleError(
    "not_found",
    `no model "${id}": it was deleted, never made, or belongs to a team you are not in`,
  )
}

/** @throws {HeddleError} `not_found`, `forbidden` */
export async function jobOf(database: CatalogDatabase, principal: Principal, id: string): Promise<NamedJob> {
  const job = await findJob(database, teamIds(principal), id)
  if (job === null) throw noSuchJob(id)
  requireRightIn(principal, job.projectId, job)
  return job
}

export function noSuchJob(id: string): HeddleError {
  return new HeddleError("not_found", `no training job "${id}": it was never made, or belongs to a team you are not in`)
}
