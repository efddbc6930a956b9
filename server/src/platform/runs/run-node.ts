/** The GraphQL type `Run`. */
import { mayCall, ownTeam } from "../../access/can.ts"
import { membersOf, textAt } from "../../json/json-members.ts"
import { countRunFiles, listRunFiles, type RunFileRecord } from "../../storage/catalog/runs/run-files.ts"
import { type RunRecord, reportedState } from "../../storage/catalog/runs/runs.ts"
import { historyEnd } from "../../storage/traces/runs/run-history.ts"
import { runLineCount, sampleRunLines } from "../../storage/traces/runs/run-lines.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import { type AlertsArguments, alertsField } from "./run-alerts.ts"
import { eventsTailField, logLinesField, systemMetricsField } from "./console-fields.ts"
import {
  historyField,
  historyKeysField,
  historyTailField,
  parquetHistoryField,
  sampledHistoryField,
} from "./history-fields.ts"
import { fileName, mayBeFileName } from "../../wire/platform/run-inputs.ts"
import { describeNamedProject } from "./named-project.ts"
import { accessOfUse } from "./run-file-links.ts"
import { type RunContext, withContentsForReaders } from "./run-context.ts"
import { globalId, projectNumber } from "./run-ids.ts"
import { type PageArguments, runArtifacts } from "../artifacts/run-artifacts.ts"
import { once } from "./run-reads.ts"

const mostSamples = 10_000
const mostFiles = 1000

/** Fields with what people and clients wrote of a run, and what it has logged. */
const contentFields = [
  "description",
  "notes",
  "tags",
  "config",
  "summaryMetrics",
  "wandbConfig",
  "historyTail",
  "eventsTail",
  "historyKeys",
  "history",
  "sampledHistory",
  "parquetHistory",
  "systemMetrics",
  "events",
  "logLines",
  "files",
  "alerts",
  "outputArtifacts",
  "inputArtifacts",
]

export function describeRun(context: RunContext, run: RunRecord): Record<string, unknown> {
  return withContentsForReaders(context, wholeRun(context, run), contentFields)
}

function wholeRun(context: RunContext, run: RunRecord) {
  const key = { projectId: run.project_id, runId: run.id }
  const read = <T>(work: (traces: TraceStore) => Promise<T>) => context.reads.read(() => work(context.traces))
  const end = once(() => read((traces) => historyEnd(traces, key)))
  return {
    __typename: "Run",
    id: globalId("Run", run.id),
    name: run.name,
    displayName: run.display_name,
    description: run.description,
    notes: run.notes,
    tags: run.tags,
    group: run.group_name,
    groupName: run.group_name,
    jobType: run.job_type,
    commit: run.commit,
    host: run.host,
    readOnly: false,
    state: reportedState(run),
    exitCode: run.exit_code,
    stopped: run.stop_requested,
    sweepName: null,
    createdAt: run.created_at.toISOString(),
    heartbeatAt: run.heartbeat_at.toISOString(),
    updatedAt: run.heartbeat_at.toISOString(),
    user: { id: run.user_id, name: run.username, username: run.username },
    project: describeNamedProject(context, run),
    projectId: projectNumber(run.project_id),
    config: run.config,
    summaryMetrics: run.summary,
    wandbConfig: ({ keys }: { keys?: readonly string[] | null }) => wandbConfig(run.config, keys ?? null),
    historyLineCount: () => end().then(({ nextLine }) => nextLine),
    logLineCount: () => read((traces) => runLineCount(traces, key, "console")),
    eventsLineCount: () => read((traces) => runLineCount(traces, key, "events")),
    historyTail: () => read((traces) => historyTailField(traces, key)),
    eventsTail: () => read((traces) => eventsTailField(traces, key)),
    historyKeys: () => read((traces) => historyKeysField(traces, key)),
    history: (given: Parameters<typeof historyField>[2]) => read((traces) => historyField(traces, key, given)),
    sampledHistory: ({ specs }: { specs?: readonly unknown[] | null }) =>
      read((traces) => sampledHistoryField(traces, key, specs)),
    parquetHistory: () => read((traces) => parquetHistoryField(traces, key)),
    systemMetrics: () => read((traces) => systemMetricsField(traces, key)),
    events: ({ samples }: { samples?: number | null }) =>
      read((traces) => sampleRunLines(traces, key, "events", Math.min(Math.max(samples ?? 500, 1), mostSamples))),
    logLines: (given: Parameters<typeof logLinesField>[2]) => read((traces) => logLinesField(traces, key, given)),
    fileCount: () => countRunFiles(context.database, run.id),
    files: (given: FilesArguments) => runFiles(context, run, given),
    alerts: (given: AlertsArguments) => alertsField(context, { projectId: run.project_id, runId: run.id }, given),
    outputArtifacts: (given: PageArguments) => runArtifacts(context, run.id, "output", given),
    inputArtifacts: (given: PageArguments) => runArtifacts(context, run.id, "input", given),
  }
}

/** The members of `_wandb` that are asked for, by which a client knows that the run began: platform-wandb 5.5. */
function wandbConfig(config: string, keys: readonly string[] | null): string {
  const value = textAt(config, ["_wandb", "value"]) ?? "{}"
  const members = membersOf(value).filter(([name]) => keys === null || keys.includes(name))
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(", ")}}`
}

interface FilesArguments {
  names?: readonly string[] | null
  pattern?: string | null
  after?: string | null
  first?: number | null
}

/** A file that was asked for by its name and is not there. */
interface MissingFile {
  name: string
}

async function runFiles(context: RunContext, run: RunRecord, { names, pattern, after, first }: FilesArguments) {
  const limit = Math.min(Math.max(first ?? 50, 1), mostFiles)
  const named =
    names === null || names === undefined || names.length === 0 ? null : names.filter(mayBeFileName).map(fileName)
  const selection = {
    names: named,
    pattern: pattern ?? null,
    after: after ? Buffer.from(after, "base64").toString("utf8") : null,
    limit: limit + 1,
  }
  const found = await listRunFiles(context.database, run.id, selection)
  const files = named === null || selection.pattern !== null ? found : withMissing(found, named, selection)
  const page = files.slice(0, limit)
  const cursor = ({ name }: MissingFile) => Buffer.from(name).toString("base64")
  const last = page.at(-1)
  return {
    edges: page.map((file) => ({ node: describeFile(context, run, file), cursor: cursor(file) })),
    pageInfo: { hasNextPage: files.length > page.length, endCursor: last === undefined ? null : cursor(last) },
  }
}

/** A node for every name of a file that was asked for, in the order of `listRunFiles`: platform-wandb 8. */
function withMissing(
  found: readonly RunFileRecord[],
  names: readonly string[],
  { after, limit }: { after: string | null; limit: number },
): (RunFileRecord | MissingFile)[] {
  const byName = new Map(found.map((file) => [file.name, file]))
  const inOrder = [...new Set(names)].toSorted(compareBytes)
  const left = after === null ? inOrder : inOrder.filter((name) => compareBytes(name, after) > 0)
  return left.slice(0, limit).map((name) => byName.get(name) ?? { name })
}

const compareBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

/** `wandb.restore` knows by the MD5 `0`, and others by the missing time, that there is no such file: platform-wandb 8. */
function describeFile(context: RunContext, run: RunRecord, file: RunFileRecord | MissingFile) {
  const { principal, links, baseAddress } = context
  const link = { runId: run.id, name: file.name, apiKeyId: principal.apiKeyId }
  const path = [run.entity, run.project, run.name, ...file.name.split("/")].map(encodeURIComponent).join("/")
  const entityId = ownTeam(principal, run.entity)?.id ?? ""
  const mayStore = mayCall(principal, accessOfUse.store, { id: run.project_id, entityId })
  const upload = () => (mayStore ? baseAddress + links.pathOf({ use: "store", ...link }, Date.now()) : null)
  const content =
    "id" in file
      ? {
          id: globalId("RunFile", file.id),
          sizeBytes: file.size_bytes,
          mimetype: file.mimetype,
          updatedAt: file.updated_at.toISOString(),
          md5: file.md5,
        }
      : { id: globalId("RunFile", `${run.name}/${file.name}`), sizeBytes: 0, mimetype: "", updatedAt: null, md5: "0" }
  return {
    __typename: "File",
    ...content,
    name: file.name,
    url: (given: { upload?: boolean | null }) => (given.upload === true ? upload() : `${baseAddress}/files/${path}`),
    uploadUrl: upload,
    directUrl: () => baseAddress + links.pathOf({ use: "fetch", ...link }, Date.now()),
  }
}
