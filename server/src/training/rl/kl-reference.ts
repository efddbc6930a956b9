/** Which checkpoint an RL job's KL penalty compares with: training-api 2.2. */
import { teamIds } from "../../access/can.ts"
import { invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { findCheckpoint } from "../../storage/catalog/training/checkpoints.ts"
import { findModelByPath, type ModelRecord } from "../../storage/catalog/training/models.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import type { KlReference } from "../../wire/training/job.ts"
import type { ExperimentalConfig } from "../../wire/training/rl-job.ts"

/** @throws {HeddleError} 422 when the checkpoint is not there. */
export async function resolveKlReference(
  database: CatalogDatabase,
  principal: Principal,
  model: ModelRecord,
  config: ExperimentalConfig,
): Promise<KlReference> {
  const { kl_penalty_step_lag: lag, kl_penalty_reference_step: step, kl_ref_adapter_path: uri } = config
  if (typeof lag === "number") return { lag }
  if (typeof uri === "string") return adapterReference(database, principal, model, uri)
  if (typeof step !== "number") return null
  if ((await findCheckpoint(database, model.id, step)) !== null) return { step }
  throw invalid(
    at("kl_penalty_reference_step"),
    `the model has no checkpoint ${step}; list its checkpoints for those it has`,
  )
}

async function adapterReference(
  database: CatalogDatabase,
  principal: Principal,
  model: ModelRecord,
  uri: string,
): Promise<KlReference> {
  const match = /^wandb-artifact:\/{2,3}([^/]+)\/([^/]+)\/([^/:]+):step(\d+)$/.exec(uri)
  if (match === null) {
    throw invalid(
      at("kl_ref_adapter_path"),
      `"${uri}" is no checkpoint of this server; give wandb-artifact:///<entity>/<project>/<model>:step<N>`,
    )
  }
  const [, entity, project, name, step] = match as unknown as [string, string, string, string, string]
  const other = await findModelByPath(database, teamIds(principal), { entity, project, name })
  const checkpoint = other === null ? null : await findCheckpoint(database, other.id, Number(step))
  if (other === null || checkpoint === null) throw invalid(at("kl_ref_adapter_path"), `there is no checkpoint "${uri}"`)
  if (other.baseModel !== model.baseModel) {
    throw invalid(
      at("kl_ref_adapter_path"),
      `"${uri}" is an adapter of ${other.baseModel}, but this model is trained from ${model.baseModel}`,
    )
  }
  return { model_id: other.id, step: checkpoint.step }
}

function at(key: string): string[] {
  return ["body", "experimental_config", key]
}
