/** Calls that the server itself makes, stored as those of clients are (law 1). Payloads are JSON texts. */
import type { Principal } from "../../http/principal.ts"
import { writeCalls } from "./call-write.ts"
import { CallBatchBuilder } from "../../storage/traces/calls/insert/call-batch.ts"
import type { CallWriter } from "../../storage/traces/calls/insert/calls-write.ts"
import { storedMoment } from "../../storage/traces/stored-time.ts"
import type { CallDependencies } from "../dependencies.ts"
import type { PayloadDependencies } from "../../objects/payload/run-payload-task.ts"

export interface CallStart {
  id: string
  traceId: string
  parentId: string | null
  opName: string
  displayName?: string | null
  threadId?: string | null
  startedAt: Date | string
  attributes: string
  inputs: string
}

export interface CallEnd {
  id: string
  /** A time that was read from the store is its text, to the microsecond. */
  endedAt: Date | string
  output: string
  summary: string
  exception: string | null
}

/** Texts that hold nothing of a client. */
interface OwnEnd {
  endedAt: Date
  output: string
  summary: string
  exception: string
}

/** Size of a row with short texts. */
const endBytes = 512

/** A start, an end, or both of one call. */
export interface CallRecord {
  start?: CallStart
  end?: CallEnd
}

export type RecordDependencies = PayloadDependencies & Pick<CallDependencies, "writer">

/** Resolves when all of them are stored and every read sees them. @throws {HeddleError} */
export async function recordCalls(
  dependencies: RecordDependencies,
  principal: Principal,
  project: string,
  calls: readonly CallRecord[],
): Promise<void> {
  const items = calls.flatMap(({ start, end }) => [
    ...(start === undefined ? [] : [`{"mode":"start","req":{"start":${startText(project, start)}}}`]),
    ...(end === undefined ? [] : [`{"mode":"end","req":{"end":${endText(project, end)}}}`]),
  ])
  if (items.length === 0) return
  const bytes = Buffer.from(`{"batch":[${items.join(",")}]}`)
  await writeCalls(dependencies, principal, { bytes, envelope: "upsert" })
}

/** Ends calls that the server had begun to record, with texts of its own. @param projectId of the catalog. */
export async function endCalls(
  writer: CallWriter,
  projectId: string,
  ids: readonly string[],
  end: OwnEnd,
): Promise<void> {
  const { endedAt, exception, output, summary } = end
  const rows = new CallBatchBuilder(endBytes * ids.length)
  const texts = { ended_at: storedMoment(endedAt), exception }
  for (const id of ids) rows.add({ projectId, id }, texts, { output, summary })
  await writer.add(rows.batch())
}

function startText(project: string, start: CallStart): string {
  const plain = JSON.stringify({
    project_id: project,
    id: start.id,
    trace_id: start.traceId,
    parent_id: start.parentId,
    op_name: start.opName,
    display_name: start.displayName ?? null,
    thread_id: start.threadId ?? null,
    started_at: start.startedAt,
  })
  return `${plain.slice(0, -1)},"attributes":${start.attributes},"inputs":${start.inputs}}`
}

function endText(project: string, { id, endedAt, exception, output, summary }: CallEnd): string {
  const plain = JSON.stringify({ project_id: project, id, ended_at: endedAt, exception })
  return `${plain.slice(0, -1)},"output":${output},"summary":${summary}}`
}

/** `summary` of a call that used a model. */
export function usageSummary(model: string, usage: string | null): string {
  return usage === null || !usage.startsWith("{") ? "{}" : `{"usage":{${JSON.stringify(model)}:${usage}}}`
}
