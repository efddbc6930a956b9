/** From a request to what would be trained, and to the job: nothing of it is stored before all of it is known. */
import { randomUUIDv7 } from "node:crypto"
import { type FileHandle, open, rm } from "node:fs/promises"
import { invalid } from "../../errors.ts"
import { existingProject, type ProjectAccess } from "../../access/project-access.ts"
import { ownTeam } from "../../access/can.ts"
import type { Principal } from "../../http/principal.ts"
import type { ModelRecord } from "../../storage/catalog/training/models.ts"
import { trainingSpeed } from "../../storage/catalog/training/training-sources.ts"
import { createJob, type JobRecord } from "../../storage/catalog/training/training-jobs.ts"
import { metricHistory } from "../../storage/catalog/training/checkpoints.ts"
import type { LedgerEntry } from "../../storage/traces/token-ledger.ts"
import { insertTrainingRows, removeTrainingRows, type TrainingRowRecord } from "../../storage/traces/training-rows.ts"
import type { SftConfig } from "../../wire/engine/train.ts"
import type { StoredJobConfig } from "../../wire/training/job.ts"
import type { TrainFromBody, TrainingDryRun, TrainingSummary } from "../../wire/training/train-from.ts"
import type { TrainingDependencies } from "../dependencies.ts"
import { referToBlob } from "../job-data.ts"
import { modelOf, noSuchModel, requireRoomFor } from "../model-access.ts"
import { resolveKlReference } from "../rl/kl-reference.ts"
import { rewardDeviationMultiplier } from "../rl/learning-rate-multiplier.ts"
import { resolveRlConfig, warningsOf } from "../rl/rl-config.ts"
import { dpoWarningsOf, resolveDpoConfig } from "../dpo/dpo-config.ts"
import { resolveSftConfig, sftWarningsOf } from "../sft/sft-config.ts"
import { prefixed, TrajectoryMetrics } from "../trajectories/trajectory-metrics.ts"
import type { KeptRow } from "./choice/row-choice.ts"
import { gather, type Gathered, type GatherTools } from "./gather.ts"
import { type RowPlan, rowPlan } from "./row-plan.ts"
import { sourceRows } from "./sources/source-rows.ts"

interface CheckedRequest {
  body: TrainFromBody
  plan: RowPlan
  model: ModelRecord
  project: ProjectAccess
}

/** @throws {HeddleError} 404 the model; `project_not_found`; 422 what the request says of them. */
async function checkRequest(
  { database }: TrainingDependencies,
  principal: Principal,
  body: TrainFromBody,
): Promise<CheckedRequest> {
  const plan = rowPlan(body)
  checkSettings(body)
  const reader = { ...principal, right: "read" as const }
  const project = await existingProject(database, reader, body.source.project_id)
  const model = await modelOf(database, principal, body.model_id)
  if (ownTeam(principal, model.entity)?.id !== project.entityId) {
    throw invalid(
      ["body", "source", "project_id"],
      `${project.name} is another team's than the model, ${model.entity}/${model.project}/${model.name}; copy what is to be trained on to a project of ${model.entity}`,
    )
  }
  return { body, plan, model, project }
}

/** @throws {HeddleError} 422 for settings of another kind of job. */
function checkSettings({ target: { kind }, config }: TrainFromBody): void {
  if (kind === "rl" && config != null) {
    throw invalid(["body", "config"], "config is for target.kind sft and dpo; rl takes experimental_config")
  }
  if (kind === "dpo" && Array.isArray(config?.learning_rate)) {
    throw invalid(["body", "config", "learning_rate"], "it is a list; dpo takes one number for all of its steps")
  }
}

export async function dryRun(
  dependencies: TrainingDependencies,
  principal: Principal,
  body: TrainFromBody,
): Promise<TrainingDryRun> {
  const request = await checkRequest(dependencies, principal, body)
  const { summary, preview, warnings } = await gathered(dependencies, principal, request, null)
  const time = await timeOf(dependencies, request.model, summary)
  return { object: "training_dry_run", ...summary, time, preview, warnings: [...settingWarnings(body), ...warnings] }
}

async function timeOf(
  { database }: TrainingDependencies,
  model: ModelRecord,
  { kind, tokens, trained_tokens }: TrainingSummary,
) {
  const speed = await trainingSpeed(database, model.baseModel, kind)
  if (speed === null) {
    const reason = `no ${kind} job of ${model.baseModel} has ended here yet`
    return { seconds: null, tokens_per_second: null, reason }
  }
  const { tokensPerSecond, jobs } = speed
  const seconds = Math.round(((kind === "rl" ? trained_tokens : tokens) / tokensPerSecond) * 10) / 10
  const newest = jobs === 1 ? `the newest ${kind} job` : `the newest ${jobs} ${kind} jobs`
  const reason = `as fast as ${newest} of ${model.baseModel} that ended well`
  return { seconds, tokens_per_second: Math.round(tokensPerSecond * 10) / 10, reason }
}

async function gathered(
  dependencies: TrainingDependencies,
  principal: Principal,
  { body, plan, model, project }: CheckedRequest,
  file: FileHandle | null,
): Promise<Gathered> {
  const { threads, ledger, maximumTokens, countTokens } = dependencies
  const base = { name: model.baseModel, path: model.basePath }
  const tools: GatherTools = {
    threads,
    measureLedger: (keys) => ledger.measure(model.projectId, keys),
    countTokens: (row) => countTokens(base, JSON.parse(row) as Parameters<typeof countTokens>[1]),
    maximumTokens: await maximumTokens(base),
  }
  const sink = file === null ? null : (text: Buffer) => file.appendFile(text)
  return gather(sourceRows(dependencies, principal, project, plan, model, body.source), plan, model, tools, sink)
}

/** @throws {HeddleError} besides, 422 where nothing is left to train on. Then nothing is stored. */
export async function makeJobFrom(
  dependencies: TrainingDependencies,
  principal: Principal,
  body: TrainFromBody,
): Promise<{ job: JobRecord; summary: TrainingSummary }> {
  const { blobs, wakeScheduler } = dependencies
  const request = await checkRequest(dependencies, principal, body)
  const path = blobs.temporaryPath()
  const file = await open(path, "wx+", 0o600)
  try {
    const found = await gathered(dependencies, principal, request, file)
    requireSomething(found)
    const job = await storeJob(dependencies, principal, request, found, file)
    wakeScheduler()
    return { job, summary: found.summary }
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}

function requireSomething({ summary: { kind, read, rows, drops, groups, ...counts } }: Gathered): void {
  if (read === 0) throw invalid(["body", "source"], "it matches nothing; ask the dry run with a wider filter")
  if (rows === 0) {
    const reasons = drops.map(({ count, reason }) => `${count}: ${reason}`).join(" ")
    throw invalid(["body", "target"], `nothing of the ${read} rows is left to train on. ${reasons}`)
  }
  if (kind !== "rl" || groups === null || (counts.groups_without_contrast ?? 0) + (counts.groups_of_one ?? 0) < groups)
    return
  throw invalid(
    ["body", "target", "reward"],
    `none of the ${groups} groups has two different rewards, so that there is nothing to learn; reward by another field, or group by what several answers have in common`,
  )
}

async function storeJob(
  dependencies: TrainingDependencies,
  principal: Principal,
  { body, model, project }: CheckedRequest,
  { summary, kept, warnings, policyNames }: Gathered,
  file: FileHandle,
): Promise<JobRecord> {
  const { database, blobs, traces, ledger } = dependencies
  const placed = summary.kind !== "sft" ? placedByGroup(kept) : kept.map((row) => ({ row, group: null, index: null }))
  const find = (keys: string[]) => ledger.find(model.projectId, keys)
  const config = await configOf(dependencies, principal, model, body, { placed, policyNames })
  const { sha256, sizeBytes } = await blobs.put(dataLines(file, placed, find))
  const sourceId = randomUUIDv7()
  const source = { id: sourceId, projectId: project.id, request: { source: body.source, target: body.target }, summary }
  let isMade = false
  try {
    const job = await referToBlob(database, blobs, sha256, async () => {
      await requireRoomFor(database, principal, model, sizeBytes)
      await insertTrainingRows(
        traces,
        { projectId: project.id, sourceId },
        records(placed, body.source.kind === "dataset"),
      )
      const made = await createJob(database, {
        modelId: model.id,
        projectId: model.projectId,
        userId: principal.userId,
        config,
        requestedConfig: summary.kind === "rl" ? body.experimental_config : { config: body.config ?? null },
        dataPath: blobs.pathOf(sha256),
        dataSha256: sha256,
        dataBytes: sizeBytes,
        warnings: [...settingWarnings(body), ...warnings],
        failure: null,
        source,
      })
      isMade = made !== null
      return made
    })
    if (job === null) throw noSuchModel(model.id)
    return job
  } finally {
    // Nobody would ever see them.
    if (!isMade) await removeTrainingRows(traces, project.id, sourceId).catch(() => undefined)
  }
}

function settingWarnings({ target, config, experimental_config: experimental }: TrainFromBody): string[] {
  if (target.kind === "rl") return warningsOf(experimental ?? {})
  if (target.kind === "dpo") return dpoWarningsOf(config ?? {}, experimental ?? {})
  return sftWarningsOf({ config: config ?? null, experimental_config: experimental ?? null })
}

interface Placed {
  row: KeptRow
  group: number | null
  index: number | null
}

/** Groups in the order of their first answer, each whole. */
function placedByGroup(kept: readonly KeptRow[]): Placed[] {
  const groups = [...Map.groupBy(kept, ({ group }) => group).values()]
  return groups.flatMap((rows, group) => rows.map((row, index) => ({ row, group, index })))
}

async function configOf(
  dependencies: TrainingDependencies,
  principal: Principal,
  model: ModelRecord,
  body: TrainFromBody,
  { placed, policyNames }: { placed: readonly Placed[]; policyNames: string[] },
): Promise<StoredJobConfig> {
  const { database } = dependencies
  if (body.target.kind === "sft") {
    const engine = resolveSftConfig(body.config ?? {})
    checkRates(engine, placed.length)
    return { kind: "sft", engine, kl_reference: null }
  }
  if (body.target.kind === "dpo") {
    return { kind: "dpo", engine: resolveDpoConfig(body.target, body.config ?? {}), kl_reference: null }
  }
  const settings = body.experimental_config ?? {}
  const scaled = settings.scale_learning_rate_by_reward_std_dev === true
  const history = scaled ? await metricHistory(database, model.id, "train/reward_std_dev") : []
  return {
    kind: "rl",
    engine: {
      ...resolveRlConfig(settings, rewardDeviationMultiplier(history)),
      ...(policyNames.length === 0 ? {} : { policy_names: policyNames }),
    },
    kl_reference: await resolveKlReference(database, principal, model, settings),
    checkpoint_metrics: prefixed("train", metricsOf(placed)),
  }
}

/** A row that is too long is left out already, so that every batch has something to learn. */
function checkRates({ learning_rate: rates, batch_size: batchSize }: SftConfig, rows: number): void {
  const batches = Math.ceil(rows / batchSize)
  if (!Array.isArray(rates) || rates.length === batches) return
  throw invalid(
    ["body", "config", "learning_rate"],
    `${rates.length} values for ${batches} batches of ${batchSize} out of ${rows} rows; send one value per batch, or a single number`,
  )
}

function metricsOf(placed: readonly Placed[]): Record<string, number> {
  const metrics = new TrajectoryMetrics()
  placed.forEach(({ row, group }, place) => {
    metrics.trajectory({ reward: row.score ?? 0, metrics: {} })
    if (placed[place + 1]?.group !== group) metrics.endGroup({ exceptions: [], metrics: {} })
  })
  return metrics.summary()
}

/** Lines that are looked up and written at once. */
const linesAtOnce = 128

async function* dataLines(
  file: FileHandle,
  placed: readonly Placed[],
  find: (keys: string[]) => Promise<LedgerEntry[]>,
): AsyncGenerator<Buffer> {
  for (let from = 0; from < placed.length; from += linesAtOnce) {
    const some = placed.slice(from, from + linesAtOnce)
    const keys = some.flatMap(({ row }) => row.ledgerKey ?? [])
    const entries = new Map((keys.length === 0 ? [] : await find(keys)).map((entry) => [entry.ledger_key, entry]))
    const lines: string[] = []
    for (const { row, group, index } of some) {
      const text = await textAt(file, row)
      lines.push(group === null ? text : trajectoryText(text, row, { group, index }, entries))
    }
    yield Buffer.from(`${lines.join("\n")}\n`)
  }
}

async function textAt(file: FileHandle, { offset, bytes }: KeptRow): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, offset)
  if (bytesRead !== bytes) throw new Error(`a row of ${bytes} bytes at ${offset} has only ${bytesRead}`)
  return buffer.toString("utf8")
}

const unfilled = '"ledger":null'

function trajectoryText(
  text: string,
  { ledgerKey, id }: KeptRow,
  place: { group: number; index: number | null },
  entries: ReadonlyMap<string, LedgerEntry>,
): string {
  const placed = `{"group":${place.group},"index":${place.index ?? 0},${text.slice(1)}`
  if (ledgerKey === null) return placed
  const entry = entries.get(ledgerKey)
  if (entry === undefined) {
    throw invalid(
      ["body", "source"],
      `the tokens of call ${id} went out of the ledger while the rows were read; ask again`,
    )
  }
  const { prompt_token_ids, token_ids, logprobs } = entry
  // The choice comes last, so this is its member and no text of a message.
  const at = placed.lastIndexOf(unfilled)
  const filled = JSON.stringify({ prompt_token_ids, token_ids, logprobs })
  return `${placed.slice(0, at)}"ledger":${filled}${placed.slice(at + unfilled.length)}`
}

function* records(placed: readonly Placed[], ofDataset: boolean): Generator<TrainingRowRecord> {
  for (const [number, { row, group, index }] of placed.entries()) {
    yield {
      row: number,
      group,
      index,
      call_id: ofDataset || row.rolloutId !== null ? "" : row.id,
      rollout_id: row.rolloutId ?? "",
      row_digest: row.rowDigest ?? "",
      feedback_ids: row.feedbackIds,
      score: row.score,
      is_corrected: row.isCorrected,
    }
  }
}
