/**
 * Which call, labels and scores each row of a training job was made of. Rows are written before their job is; those of a
 * job that was never made belong to nothing and are shown to nobody.
 */
import { SqlParameters } from "./query/sql-parameters.ts"
import { insertCounted } from "./counted-lines.ts"
import type { TraceStore } from "./store/trace-store.ts"

export interface TrainingRowRecord {
  /** Line of the job's data, from 0. */
  row: number
  /** Group number in an RL job's data, or null for fine-tuning. */
  group: number | null
  index: number | null
  /** '' where it was made of no call. */
  call_id: string
  /** Digest of the dataset row, or '' for rows of other sources. */
  row_digest: string
  /** '' where it was made of none. */
  rollout_id: string
  feedback_ids: string[]
  score: number | null
  is_corrected: boolean
}

export const trainingRowTables = [
  `create table if not exists training_rows (
    project_id UUID,
    source_id UUID,
    row UInt32,
    group_number Nullable(UInt32),
    member Nullable(UInt32),
    call_id String codec(ZSTD),
    row_digest String codec(ZSTD),
    rollout_id String codec(ZSTD),
    feedback_ids Array(String) codec(ZSTD),
    score Nullable(Float64),
    is_corrected Bool,
    index by_call call_id type bloom_filter granularity 1,
    index by_digest row_digest type bloom_filter granularity 1,
    index by_rollout rollout_id type bloom_filter granularity 1,
    index by_feedback feedback_ids type bloom_filter granularity 1
  ) engine = ReplacingMergeTree order by (project_id, source_id, row)
  settings index_granularity = 1024`,
]

/** Rows of one insert. */
const rowsAtOnce = 20_000

/** Stores the rows of a source. */
export async function insertTrainingRows(
  traces: TraceStore,
  { projectId: project_id, sourceId: source_id }: { projectId: string; sourceId: string },
  rows: Iterable<TrainingRowRecord>,
): Promise<void> {
  let lines: string[] = []
  const write = async () => {
    const bytes = Buffer.from(lines.join("\n"))
    lines = []
    if (bytes.length > 0)
      await insertCounted(traces, "training_rows", { lines: bytes, bytesOf: new Map([[project_id, bytes.length]]) })
  }
  for (const { group, index, ...row } of rows) {
    lines.push(JSON.stringify({ project_id, source_id, ...row, group_number: group, member: index }))
    if (lines.length === rowsAtOnce) await write()
  }
  await write()
}

/** Takes the rows of a source away again, of which no job was made. */
export async function removeTrainingRows(traces: TraceStore, projectId: string, sourceId: string): Promise<void> {
  const condition = "project_id = {projectId:UUID} and source_id = {sourceId:UUID}"
  await traces.command(`alter table training_rows delete where ${condition}`, { projectId, sourceId })
}

const columns =
  "row, group_number as `group`, member as `index`, call_id, row_digest, rollout_id, feedback_ids, score, is_corrected"

/** Reads the rows of a source in order, starting after a given row. */
export function readTrainingRows(
  traces: TraceStore,
  { projectId, sourceId }: { projectId: string; sourceId: string },
  after: number,
  limit: number,
): Promise<TrainingRowRecord[]> {
  return traces.rows<TrainingRowRecord>(
    `select ${columns} from training_rows final
      where project_id = {projectId:UUID} and source_id = {sourceId:UUID} and row > {after:Int64} order by row limit {limit:UInt32}`,
    { projectId, sourceId, after, limit },
    { kind: "lookup" },
  )
}

export interface UsedThings {
  callIds: readonly string[]
  feedbackIds: readonly string[]
  rowDigests: readonly string[]
  rolloutIds: readonly string[]
}

/** Rows that any of these went into, by source. */
export function findTrainingUses(
  traces: TraceStore,
  projectId: string,
  { callIds, feedbackIds, rowDigests, rolloutIds }: UsedThings,
  limit: number,
): Promise<(TrainingRowRecord & { source_id: string })[]> {
  const parameters = new SqlParameters()
  const list = (ids: readonly string[]) => parameters.bind(ids, "Array(String)")
  const conditions = [
    ...(callIds.length === 0 ? [] : [`call_id in ${list(callIds)}`]),
    ...(rowDigests.length === 0 ? [] : [`row_digest in ${list(rowDigests)}`]),
    ...(rolloutIds.length === 0 ? [] : [`rollout_id in ${list(rolloutIds)}`]),
    ...(feedbackIds.length === 0 ? [] : [`hasAny(feedback_ids, ${list(feedbackIds)})`]),
  ]
  return traces.rows(
    `select ${columns}, source_id from training_rows final
      where project_id = ${parameters.bind(projectId, "UUID")} and (${conditions.join(" or ")})
      order by source_id desc, row limit ${limit}`,
    parameters.values,
  )
}
