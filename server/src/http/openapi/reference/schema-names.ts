/**
 * Names of schemas in the API's document: those under which `wire/` exports them. `callsFilter` of `wire/` is `CallsFilter`
 * in the document and in clients that are generated from it. What has no name here stands where it is used.
 */
import { z } from "zod"
import * as agentChat from "../../../wire/agents/agent-chat.ts"
import * as agents from "../../../wire/agents/agents.ts"
import * as spanQuery from "../../../wire/agents/span-query.ts"
import * as spanStats from "../../../wire/agents/span-stats.ts"
import * as spanValues from "../../../wire/agents/span-values.ts"
import * as annotationLabel from "../../../wire/labelling/annotation-label.ts"
import * as annotationLease from "../../../wire/labelling/annotation-lease.ts"
import * as annotationWork from "../../../wire/labelling/annotation-work.ts"
import * as annotationQueue from "../../../wire/labelling/annotation-queue.ts"
import * as callFacets from "../../../wire/calls/call-facets.ts"
import * as callRead from "../../../wire/calls/call-read.ts"
import * as callWrite from "../../../wire/calls/call-write.ts"
import * as completion from "../../../wire/evaluations/completion.ts"
import * as cost from "../../../wire/calls/cost.ts"
import * as datasetSource from "../../../wire/objects/dataset-source.ts"
import * as evalResults from "../../../wire/evaluations/eval-results.ts"
import * as evaluationRun from "../../../wire/evaluations/evaluation-run.ts"
import * as execution from "../../../wire/evaluations/execution.ts"
import * as exports from "../../../wire/transfer/export.ts"
import * as feedbackStats from "../../../wire/labelling/feedback-stats.ts"
import * as feedback from "../../../wire/labelling/feedback.ts"
import * as imports from "../../../wire/transfer/import.ts"
import * as mcpMessage from "../../../wire/mcp/message.ts"
import * as metrics from "../../../wire/queries/metrics.ts"
import * as objectFamilies from "../../../wire/objects/object-families.ts"
import * as objectLabels from "../../../wire/objects/object-labels.ts"
import * as object from "../../../wire/objects/object.ts"
import * as otel from "../../../wire/calls/otel.ts"
import * as projectFile from "../../../wire/objects/project-file.ts"
import * as project from "../../../wire/objects/project.ts"
import * as query from "../../../wire/queries/query.ts"
import * as ref from "../../../wire/objects/ref.ts"
import * as registry from "../../../wire/objects/registry.ts"
import * as rowQuery from "../../../wire/queries/row-query.ts"
import * as runtime from "../../../wire/evaluations/runtime.ts"
import * as scoringRule from "../../../wire/evaluations/scoring-rule.ts"
import * as table from "../../../wire/objects/table.ts"
import * as thread from "../../../wire/calls/thread.ts"
import * as usageStats from "../../../wire/calls/usage-stats.ts"
import * as usage from "../../../wire/calls/usage.ts"
import * as chat from "../../../wire/inference/chat.ts"
import * as embeddings from "../../../wire/inference/embeddings.ts"
import * as messages from "../../../wire/inference/messages.ts"
import * as responses from "../../../wire/inference/responses.ts"
import * as modelCards from "../../../wire/inference/models.ts"
import * as promptLogprobs from "../../../wire/inference/prompt-logprobs.ts"
import * as promptTexts from "../../../wire/inference/prompt-texts.ts"
import * as sampling from "../../../wire/inference/sampling.ts"
import * as structuredOutput from "../../../wire/inference/structured-output.ts"
import * as textCompletion from "../../../wire/inference/text-completion.ts"
import * as tokenize from "../../../wire/inference/tokenize.ts"
import * as inferenceUsage from "../../../wire/inference/usage.ts"
import * as jsonValue from "../../../wire/json-value.ts"
import * as access from "../../../wire/platform/access.ts"
import * as account from "../../../wire/platform/account.ts"
import * as artifact from "../../../wire/platform/artifact.ts"
import * as auditLog from "../../../wire/platform/audit-log.ts"
import * as backup from "../../../wire/platform/backup.ts"
import * as file from "../../../wire/platform/file.ts"
import * as graphql from "../../../wire/platform/graphql.ts"
import * as invitation from "../../../wire/platform/invitation.ts"
import * as projectList from "../../../wire/platform/project-list.ts"
import * as projectRole from "../../../wire/platform/project-role.ts"
import * as quota from "../../../wire/platform/quota.ts"
import * as refusedRequest from "../../../wire/platform/refused-request.ts"
import * as run from "../../../wire/platform/run.ts"
import * as service from "../../../wire/platform/service.ts"
import * as session from "../../../wire/platform/session.ts"
import * as checkpoint from "../../../wire/training/checkpoint.ts"
import * as exchange from "../../../wire/training/exchange.ts"
import * as health from "../../../wire/training/health.ts"
import * as job from "../../../wire/training/job.ts"
import * as log from "../../../wire/training/log.ts"
import * as modelMetrics from "../../../wire/training/model-metrics.ts"
import * as model from "../../../wire/training/model.ts"
import * as rewardValue from "../../../wire/training/reward-value.ts"
import * as rlJob from "../../../wire/training/rl-job.ts"
import * as rollout from "../../../wire/training/rollout.ts"
import * as trainFrom from "../../../wire/training/train-from.ts"
import * as sftJob from "../../../wire/training/sft-job.ts"
import * as tokenArrays from "../../../wire/training/token-arrays.ts"
import * as trainedTrajectory from "../../../wire/training/trained-trajectory.ts"
import * as trajectory from "../../../wire/training/trajectory.ts"

type Exports = Readonly<Record<string, unknown>>

/** Kinds that are worth a name: a text or a number says more where it is used. */
const named: ReadonlySet<string> = new Set(["object", "union", "enum", "lazy", "intersection", "record"])

/** Modules of `wire/`, each with the prefix that keeps equal names of two modules apart. */
const modules: readonly (readonly [prefix: string, exported: Exports])[] = [
  ["", callFacets],
  ["", callRead],
  ["", callWrite],
  ["", query],
  ["", annotationLabel],
  ["", annotationLease],
  ["", annotationQueue],
  ["", annotationWork],
  ["", completion],
  ["", cost],
  ["", datasetSource],
  ["", evalResults],
  ["", evaluationRun],
  ["", execution],
  ["", exports],
  ["", feedbackStats],
  ["", feedback],
  ["", imports],
  ["", metrics],
  ["Published", objectFamilies],
  ["", objectLabels],
  ["", object],
  ["", otel],
  ["", projectFile],
  ["", project],
  ["", ref],
  ["", registry],
  ["", rowQuery],
  ["", runtime],
  ["", scoringRule],
  ["", table],
  ["", thread],
  ["", usageStats],
  ["", usage],
  ["Agent", agentChat],
  ["Agent", agents],
  ["Agent", spanQuery],
  ["Agent", spanStats],
  ["Agent", spanValues],
  ["", chat],
  ["", embeddings],
  ["", messages],
  ["", responses],
  ["", modelCards],
  ["", promptLogprobs],
  ["", promptTexts],
  ["", sampling],
  ["", structuredOutput],
  ["", textCompletion],
  ["", tokenize],
  ["", inferenceUsage],
  ["", mcpMessage],
  ["", access],
  ["", account],
  ["", artifact],
  ["", auditLog],
  ["", backup],
  ["", file],
  ["", graphql],
  ["", invitation],
  ["", projectList],
  ["", projectRole],
  ["", quota],
  ["", refusedRequest],
  ["", run],
  ["", service],
  ["", session],
  ["", checkpoint],
  ["", health],
  ["", job],
  ["", modelMetrics],
  ["", log],
  ["", model],
  ["", rewardValue],
  ["", rlJob],
  ["", trainFrom],
  ["", rollout],
  ["", sftJob],
  ["", exchange],
  ["", tokenArrays],
  ["", trainedTrajectory],
  ["", trajectory],
  ["", jsonValue],
]

/** Metadata that schemas have of their own, and an id for each that has a name. */
class NamedSchemas extends z.core.$ZodRegistry<Record<string, unknown>> {
  override get(schema: z.core.$ZodType) {
    return { ...z.globalRegistry.get(schema), ...super.get(schema) }
  }
}

export const schemaNames = new NamedSchemas()

const taken = new Set<string>()
for (const [prefix, exported] of modules) nameAll(prefix, exported)

function nameAll(prefix: string, exported: Exports): void {
  const schemas = Object.entries(exported).filter((entry): entry is [string, z.ZodType] => isNamed(entry[1]))
  for (const [name, schema] of schemas) {
    // One schema under two names of a module has no name that is right for both.
    const isAlias = schemas.some(([other, same]) => same === schema && other !== name)
    if (isAlias || schemaNames.has(schema)) continue
    const id = `${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}`
    if (taken.has(id)) throw new Error(`two schemas of wire/ are called ${id}: give one module a prefix`)
    taken.add(id)
    schemaNames.add(schema, { id })
  }
}

function isNamed(value: unknown): value is z.ZodType {
  return value instanceof z.ZodType && named.has(value.def.type)
}
