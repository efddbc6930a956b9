/** GraphQL mutations about runs: platform-wandb 4, 5. Each is answered with an error rather than a bare null. */
import type { z } from "zod"
import { type Membership, ownTeam, requireRightIn, teamIds } from "../../access/can.ts"
import { ensureProjectWithoutRoom } from "../../access/project-access.ts"
import { HeddleError } from "../../errors.ts"
import { deleteArtifacts } from "../../storage/catalog/artifacts/artifact-changes.ts"
import { madeByRun } from "../../storage/catalog/artifacts/artifact-lineage.ts"
import { deleteRunFiles } from "../../storage/catalog/runs/run-files.ts"
import { findProject } from "../../storage/catalog/accounts/projects.ts"
import {
  deleteRun,
  ensureRun,
  findRun,
  findRunById,
  type RunFields,
  moveRun,
  reportedState,
  type RunRecord,
  updateRun,
} from "../../storage/catalog/runs/runs.ts"
import type { RunState } from "../../storage/catalog/runs/runs-schema.ts"
import { isStorable } from "../../storage/catalog/storable-text.ts"
import { usageOf } from "../../storage/team-usage.ts"
import { forkHistory, historyBytes, rewindHistory } from "../../storage/traces/runs/run-history.ts"
import { runLineCount } from "../../storage/traces/runs/run-lines.ts"
import {
  createRunFilesInput,
  deleteFilesInput,
  deleteRunInput,
  fileName,
  rewindRunInput,
  runIdInput,
  type UpdateRunStateInput,
  updateRunStateInput,
  upsertBucketInput,
} from "../../wire/platform/run-inputs.ts"
import { branchPointOf, sourceOf } from "./branch-point.ts"
import { checkedInput, checkedProjectName } from "./checked-input.ts"
import { defaultProject, namesOfRun, requireRun } from "./run-access.ts"
import type { RunContext } from "./run-context.ts"
import { dropBlobs } from "./run-dependencies.ts"
import { readRunDocument } from "./run-document.ts"
import { localId } from "./run-ids.ts"
import { describeRun } from "./run-node.ts"
import { newRunName } from "./run-names.ts"
import { mergedDocuments, type SentDocuments, updateSharedRun } from "./shared-run.ts"

interface Given {
  input?: unknown
}

/** Of a run of which no client has told one. */
const noConfig = "{}"

const states: ReadonlySet<string> = new Set(["pending", "running", "preempting", "finished", "failed", "killed"])

/** From which states a user of the public API may give a run another one: platform-wandb 5.8. */
const statesBefore = {
  pending: ["running", "failed", "crashed", "preempting"],
  failed: ["pending", "running"],
} as const satisfies Record<UpdateRunStateInput["state"], readonly string[]>

export function runMutations(context: RunContext, isShared: boolean) {
  return {
    upsertBucket: async ({ input }: Given) => {
      const given = checkedInput("upsertBucket", upsertBucketInput, input)
      if (given.sweep)
        throw new HeddleError("invalid_request", "sweeps are not part of this server; start the run without one")
      const reported = await reportedFields(context, given)
      const { run, inserted, entity } = await namedRun(context, given)
      await usageOf(context.database)?.requireRoom(entity)
      const updated = await takeFields(context, run, { given, reported, inserted, isShared, entity })
      return { bucket: describeRun(context, updated), inserted, serverSettings: { serverMessages: [] } }
    },
    rewindRun: async ({ input }: Given) => {
      const { metricName, metricValue, ...names } = checkedInput("rewindRun", rewindRunInput, input)
      if (metricName !== "_step") {
        throw new HeddleError("invalid_request", `runs are rewound to a _step, not to a value of "${metricName}"`)
      }
      const { run } = await requireRun(context.database, context.principal, namesOfRun(context.principal, names))
      await rewindHistory(context.traces, { projectId: run.project_id, runId: run.id }, metricValue)
      return { rewoundRun: describeRun(context, run) }
    },
    createRunFiles: async ({ input }: Given) => {
      const { files, ...names } = checkedInput("createRunFiles", createRunFilesInput, input)
      const { run, entity } = await requireRun(
        context.database,
        context.principal,
        namesOfRun(context.principal, names),
      )
      await usageOf(context.database)?.requireRoom(entity)
      const { links, principal, baseAddress } = context
      const link = { use: "store", runId: run.id, apiKeyId: principal.apiKeyId } as const
      const now = Date.now()
      return {
        runID: run.name,
        uploadHeaders: [],
        files: files.map((name) => ({
          name,
          uploadUrl: baseAddress + links.pathOf({ ...link, name: fileName(name) }, now),
        })),
      }
    },
    deleteRun: async ({ input }: Given) => {
      const { id, deleteArtifacts: withArtifacts } = checkedInput("deleteRun", deleteRunInput, input)
      const run = await runOf(context, id)
      const made = withArtifacts === true ? await madeByRun(context.database, run.id) : []
      const contents = await deleteArtifacts(context.database, run.project_id, made)
      await dropBlobs(context, [...contents, ...(await deleteRun(context.database, run))])
      return { success: true }
    },
    stopRun: async ({ input }: Given) => {
      const run = await runOf(context, checkedInput("stopRun", runIdInput, input).id)
      await updateRun(context.database, run, { stop_requested: true }, { isHeard: false })
      return { success: true }
    },
    updateRunState: async ({ input }: Given) => {
      const { id, state } = checkedInput("update_state", updateRunStateInput, input)
      const run = await runOf(context, id)
      const from = statesBefore[state]
      if (!(await moveRun(context.database, run.id, state, from))) {
        const seen = reportedState(await runOf(context, id))
        const message = `update_state: the run "${run.name}" is ${seen}; only one that is ${from.join(" or ")} becomes ${state}`
        throw new HeddleError("bad_request", message)
      }
      return { success: true }
    },
    deleteFiles: async ({ input }: Given) => {
      const { files } = checkedInput("deleteFiles", deleteFilesInput, input)
      const ids = files.map((id) => localId("RunFile", id))
      const known = ids.filter((id) => id !== null)
      const { database, principal } = context
      const contents =
        known.length < ids.length
          ? null
          : await deleteRunFiles(database, teamIds(principal), known, (at) =>
              requireRightIn(principal, at.project_id, at),
            )
      if (contents === null) {
        throw new HeddleError("not_found", "deleteFiles: one of the files is not there; none was deleted")
      }
      await dropBlobs(context, contents)
      return { success: true }
    },
  }
}

/** @throws {HeddleError} `not_found`, also for another team's; `forbidden`. */
async function runOf({ database, principal }: RunContext, id: string): Promise<RunRecord> {
  const local = localId("Run", id)
  const run = local === null ? null : await findRunById(database, teamIds(principal), local)
  if (run === null)
    throw new HeddleError("not_found", `no run of the id "${id}": it was deleted, or you are not in its team`)
  requireRightIn(principal, run.project_id, run)
  return run
}

type UpsertInput = z.output<typeof upsertBucketInput>

/** Found by its id, or found or made by its names. */
async function namedRun(
  context: RunContext,
  { id, name, entityName, modelName }: UpsertInput,
): Promise<{ run: RunRecord; inserted: boolean; entity: Membership }> {
  const { database, principal } = context
  if (id) {
    const run = await runOf(context, id)
    const entity = ownTeam(principal, run.entity)
    return { run, inserted: false, entity: entity ?? principal.defaultEntity }
  }
  const entity = entityName ? ownTeam(principal, entityName) : principal.defaultEntity
  if (entity === undefined) {
    throw new HeddleError("not_found", `no team "${entityName}", or you are not in it; your teams: ${teamsOf(context)}`)
  }
  const project = checkedProjectName("upsertBucket", "modelName", modelName || defaultProject)
  const found = await findProject(database, entity.id, project)
  // A team without room makes nothing new, not even a project.
  if (found === null) await usageOf(database)?.requireRoom(entity)
  const { id: projectId } = await ensureProjectWithoutRoom(database, principal, `${entity.name}/${project}`)
  const runName = name || newRunName()
  const { run, inserted } = await ensureRun(database, {
    projectId,
    name: runName,
    userId: principal.userId,
    displayName: runName,
  })
  return { run, inserted, entity }
}

function teamsOf({ principal }: RunContext): string {
  return principal.entities.map(({ name }) => name).join(", ")
}

/** Reads the given fields before anything is stored, so that an invalid value leaves no new run behind. */
async function reportedFields(context: RunContext, given: UpsertInput): Promise<RunFields> {
  const fields: RunFields = {}
  if (given.state) {
    if (!states.has(given.state))
      throw new HeddleError("bad_request", `upsertBucket: state: "${given.state}" is none of ${[...states].join(", ")}`)
    fields.state = given.state as RunState
  }
  if (given.config) {
    fields.config = await readRunDocument(context, "config", given.config, null)
    branchPointOf(given.config)
  }
  if (given.summaryMetrics) {
    fields.summary = await readRunDocument(context, "summaryMetrics", given.summaryMetrics, null)
  }
  return fields
}

interface Taking {
  given: UpsertInput
  reported: RunFields
  inserted: boolean
  isShared: boolean
  /** That has the run. */
  entity: Membership
}

async function takeFields(
  context: RunContext,
  run: RunRecord,
  { given, reported, inserted, isShared, entity }: Taking,
): Promise<RunRecord> {
  const { database } = context
  const fields = withoutNulls({
    display_name: given.displayName || undefined,
    description: given.description,
    notes: given.notes,
    tags: given.tags,
    group_name: given.groupName,
    job_type: given.jobType,
    job_program: given.jobProgram,
    job_repo: given.jobRepo,
    commit: given.commit,
    host: given.host,
  }) as RunFields
  // Only the first request of a process says what it runs on; edits by the public API never do.
  const isNewSession = Boolean(given.host || given.jobProgram)
  if (isNewSession) Object.assign(fields, await sessionFields(context, run, { inserted, isShared }))
  Object.assign(fields, reported)
  if (reported.config && run.config === noConfig) {
    const source = await fork(context, run, { config: reported.config.text, inserted, entity })
    if (source !== null && !fields.summary) {
      fields.summary = await readRunDocument(context, "summaryMetrics", source.summary, null)
    }
  }
  const how = { isHeard: inserted || isNewSession }
  if (!isShared) return updateRun(database, run, fields, how)
  const sent: SentDocuments = {
    ...(reported.config && { config: { name: "config", text: reported.config.text } }),
    ...(reported.summary && { summary: { name: "summaryMetrics", text: reported.summary.text } }),
  }
  Object.assign(fields, await mergedDocuments(context, run, sent))
  return updateSharedRun(context, run, { fields, sent }, how)
}

/** A resumed run runs again, and older clients count its console and system lines from 0 again. */
async function sessionFields(
  { traces }: RunContext,
  run: RunRecord,
  { inserted, isShared }: Pick<Taking, "inserted" | "isShared">,
): Promise<RunFields> {
  if (inserted || isShared) return { state: "running" }
  const key = { projectId: run.project_id, runId: run.id }
  return {
    state: "running",
    exit_code: null,
    stop_requested: false,
    console_base: await runLineCount(traces, key, "console"),
    console_shift: null,
    events_base: await runLineCount(traces, key, "events"),
    events_shift: null,
  }
}

/**
 * A run whose config names another run and a step begins with that run's history: platform-wandb 5.6. Until its config is stored
 * it has not begun: a client that asks again after a failure gets the rows all the same. Returns that other run; null: none is named.
 */
async function fork(
  { database, traces }: RunContext,
  run: RunRecord,
  { config, inserted, entity }: { config: string } & Pick<Taking, "inserted" | "entity">,
): Promise<RunRecord | null> {
  const branch = sourceOf(run.name, config)
  if (branch === null) return null
  const source = isStorable(branch.runName) ? await findRun(database, run.project_id, branch.runName) : null
  const refuse = async (error: unknown) => {
    if (inserted) await deleteRun(database, run)
    throw error
  }
  if (source === null) {
    return refuse(
      new HeddleError("not_found", `fork_from: no run "${branch.runName}" in "${run.entity}/${run.project}"`),
    )
  }
  const { step } = branch
  const from = { projectId: source.project_id, runId: source.id }
  const bytes = await historyBytes(traces, from, step)
  await usageOf(database)?.requireRoom(entity, bytes).catch(refuse)
  await forkHistory(traces, from, { projectId: run.project_id, runId: run.id }, { step, bytes })
  return source
}

function withoutNulls(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null))
}
