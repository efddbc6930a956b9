/** Turns of rollouts as they come: each is stored before its answer ends (law 1). */
import { sql } from "kysely"
import { usageOf } from "../../team-usage.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { TurnProtocol, TurnRun } from "./rollouts-schema.ts"

export interface NewTurn {
  projectId: string
  rolloutId: string
  groupId: string | null
  /** Id of the answer. */
  id: string
  protocol: TurnProtocol
  model: string
  modelId: string | null
  step: number | null
  baseModel: string
  traceId: string | null
  spanId: string | null
  callId: string | null
  userId: string
  startedAt: Date
  endedAt: Date
  isFinished: boolean
  extends: string | null
  runs: TurnRun[]
  promptTokens: number
  completionTokens: number
  content: Buffer
  /** How long the content is kept. */
  days: number
}

/** Approximate size of a row without its content. */
const rowBytes = 300

/** Stores turns of any rollouts in one transaction; a turn that is there already stays as it is. */
export async function insertTurns(database: CatalogDatabase, turns: readonly NewTurn[]): Promise<void> {
  const added = await inTransaction(database, async (transaction) => {
    const ids = await upsertRollouts(transaction, turns)
    const rows = turns.map((turn) => ({ turn, rollout: ids.get(nameOf(turn)) as string }))
    const inserted = await transaction
      .insertInto("rollout_turns")
      .values(rows.map(({ turn, rollout }) => toRow(turn, rollout)))
      .onConflict((on) => on.columns(["rollout", "id"]).doNothing())
      .returning(["rollout", "size_bytes"])
      .execute()
    const bytes = new Map<string, number>()
    for (const { rollout, size_bytes: size } of inserted) bytes.set(rollout, (bytes.get(rollout) ?? 0) + size)
    await sql`
      update rollouts r set size_bytes = r.size_bytes + g.bytes
      from unnest(${[...bytes.keys()]}::uuid[], ${[...bytes.values()]}::bigint[]) as g (id, bytes)
      where r.id = g.id`.execute(transaction)
    return rows.flatMap(({ turn, rollout }) => ({ projectId: turn.projectId, rollout, bytes }))
  })
  const counted = new Set<string>()
  for (const { projectId, rollout, bytes } of added) {
    if (!counted.has(rollout)) usageOf(database)?.ofProject(projectId, bytes.get(rollout) ?? 0)
    counted.add(rollout)
  }
}

function nameOf({ projectId, rolloutId }: Pick<NewTurn, "projectId" | "rolloutId">): string {
  return `${projectId} ${rolloutId}`
}

/** Returns the id of each rollout by {@link nameOf}. Locks them in one order, so that servers that share the catalog wait in it. */
async function upsertRollouts(database: CatalogDatabase, turns: readonly NewTurn[]): Promise<Map<string, string>> {
  const first = new Map<string, NewTurn>()
  for (const turn of turns) {
    const before = first.get(nameOf(turn))
    if (before === undefined) first.set(nameOf(turn), turn)
    else if (before.groupId === null) first.set(nameOf(turn), { ...before, groupId: turn.groupId })
  }
  const rows = [...first]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, turn]) => ({
      project_id: turn.projectId,
      rollout_id: turn.rolloutId,
      group_id: turn.groupId,
      created_at: turn.startedAt,
      last_turn_at: turn.endedAt,
      expires_at: sql<Date>`now() + make_interval(days => ${turn.days})`,
    }))
  const stored = await database
    .insertInto("rollouts")
    .values(rows)
    .onConflict((on) =>
      on
        .columns(["rollout_id", "project_id"])
        .where("deleted_at", "is", null)
        .doUpdateSet({
          group_id: sql`coalesce(rollouts.group_id, excluded.group_id)`,
          last_turn_at: sql`greatest(rollouts.last_turn_at, excluded.last_turn_at)`,
          expires_at: sql`greatest(rollouts.expires_at, excluded.expires_at)`,
        }),
    )
    .returning(["id", "project_id as projectId", "rollout_id as rolloutId"])
    .execute()
  return new Map(stored.map((row) => [nameOf(row), row.id]))
}

function toRow(turn: NewTurn, rollout: string) {
  return {
    rollout,
    id: turn.id,
    protocol: turn.protocol,
    model: turn.model,
    model_id: turn.modelId,
    step: turn.step,
    base_model: turn.baseModel,
    group_id: turn.groupId,
    trace_id: turn.traceId,
    span_id: turn.spanId,
    call_id: turn.callId,
    user_id: turn.userId,
    started_at: turn.startedAt,
    ended_at: turn.endedAt,
    is_finished: turn.isFinished,
    extends: turn.extends,
    runs: JSON.stringify(turn.runs),
    prompt_tokens: turn.promptTokens,
    completion_tokens: turn.completionTokens,
    size_bytes: turn.content.length + rowBytes,
    content: turn.content,
  }
}

/** End of an earlier turn, used to find out whether a new turn continues it. */
export interface EarlierRun extends TurnRun {
  turn: string
}

/** Empty for a rollout that is not there yet. */
export async function earlierRuns(
  database: CatalogDatabase,
  projectId: string,
  rolloutId: string,
): Promise<{ turns: number; runs: EarlierRun[] }> {
  const rows = await database
    .selectFrom("rollout_turns as t")
    .innerJoin("rollouts as r", "r.id", "t.rollout")
    .select(["t.id", "t.runs", "t.is_finished"])
    .where("r.project_id", "=", projectId)
    .where("r.rollout_id", "=", rolloutId)
    .where("r.deleted_at", "is", null)
    .orderBy("t.sequence")
    .execute()
  return { turns: rows.length, runs: rows.flatMap(({ id, runs }) => runs.map((run) => ({ ...run, turn: id }))) }
}
