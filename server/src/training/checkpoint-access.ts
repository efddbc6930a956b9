/** Which checkpoint the path of a route names. */
import type { FastifyReply } from "fastify"
import { HeddleError } from "../errors.ts"
import { onceAnswered } from "../http/answers/once-answered.ts"
import type { Principal } from "../http/principal.ts"
import { type CheckpointRecord, findCheckpoint, listCheckpoints } from "../storage/catalog/training/checkpoints.ts"
import type { ModelRecord } from "../storage/catalog/training/models.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { modelOf } from "./model-access.ts"

/** `named`: a number, or `latest`. @throws {HeddleError} `not_found`: the model has no checkpoint any more. */
export async function stepNamed(database: CatalogDatabase, model: ModelRecord, named: string): Promise<number> {
  if (named !== "latest") return Number(named)
  const [latest] = await listCheckpoints(database, model.id, { afterStep: null, order: "desc", limit: 1 })
  if (latest === undefined) throw new HeddleError("not_found", `every checkpoint of "${model.name}" was deleted`)
  return latest.step
}

export function noSuchStep({ name, lastStep }: ModelRecord, step: number): HeddleError {
  const reason = step > lastStep ? `its newest step so far is ${lastStep}` : "it was deleted"
  return new HeddleError("not_found", `no step ${step} of the model "${name}": ${reason}`)
}

/** The checkpoint that a path names; its files stay until the answer has been sent. @throws {HeddleError} `not_found`. */
export async function heldCheckpoint(
  { database, useCheckpoint }: Pick<TrainingDependencies, "database" | "useCheckpoint">,
  principal: Principal,
  params: { model_id: string; step: string },
  reply: FastifyReply,
): Promise<{ model: ModelRecord; step: number; found: CheckpointRecord }> {
  const model = await modelOf(database, principal, params.model_id)
  const step = await stepNamed(database, model, params.step)
  // Before it is looked for: of one that is deleted from now on, the files stay.
  onceAnswered(reply, useCheckpoint(model.id, step))
  const found = await findCheckpoint(database, model.id, step)
  if (found === null) throw noSuchStep(model, step)
  return { model, step, found }
}
