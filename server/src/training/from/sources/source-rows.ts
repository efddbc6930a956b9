/** The rows of any source. */
import type { ProjectAccess } from "../../../access/project-access.ts"
import type { Principal } from "../../../http/principal.ts"
import type { TrainingSource } from "../../../wire/training/train-from.ts"
import type { TrainingDependencies } from "../../dependencies.ts"
import type { RowPlan } from "../row-plan.ts"
import type { ModelRecord } from "../../../storage/catalog/training/models.ts"
import type { Chunk } from "../row-source.ts"
import { callRows } from "./call-rows.ts"
import { datasetRows } from "./dataset-rows.ts"
import { evaluationRows } from "./evaluation-rows.ts"
import { queueRows } from "./queue-rows.ts"
import { rolloutRows } from "./rollout-rows.ts"

export function sourceRows(
  dependencies: TrainingDependencies,
  principal: Principal,
  project: ProjectAccess,
  plan: RowPlan,
  model: ModelRecord,
  source: TrainingSource,
): AsyncIterable<Chunk> {
  const { database, traces, areaSources } = dependencies
  const labelsOf = (queueId: string | null | undefined) =>
    queueId == null ? null : areaSources.queueLabels(principal, project, queueId)
  switch (source.kind) {
    case "calls":
      return callRows(dependencies, project, plan, source)
    case "queue":
      return queueRows(dependencies, areaSources.queueLabels, { principal, project, plan, queueId: source.queue_id })
    case "evaluation":
      return evaluationRows(dependencies, project, plan, source.evaluation_call_ids)
    case "dataset":
      return datasetRows(areaSources.datasetRows, project, source)
    case "rollouts":
      return rolloutRows(database, traces, { plan, model, source, project, labels: labelsOf(source.queue_id) })
  }
}
