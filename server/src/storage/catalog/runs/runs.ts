/** Runs of the wandb client: platform-wandb 5. */
import { type Selectable, sql } from "kysely"
import { usageOf } from "../../team-usage.ts"
import { isUuid } from "../identifiers.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { noSuchProject } from "../accounts/projects.ts"
import type { RunState, RunTable } from "./runs-schema.ts"

type StoredRun = Omit<Selectable<RunTable>, "config_values" | "summary_values">

/** A run with the names by which it is known. */
export interface RunRecord extends StoredRun {
  entity: string
  project: string
  username: string
}

/** A JSON text as the client wrote it, and the same without what PostgreSQL's JSON cannot hold. */
export interface RunDocument {
  text: string
  values: string
}

/** Fields of a run that a client sets; absent fields keep their values. */
export interface RunFields {
  display_name?: string
  config?: RunDocument
  summary?: RunDocument
  notes?: string
  description?: string
  tags?: string[]
  group_name?: string
  job_type?: string
  job_program?: string
  job_repo?: string
  commit?: string
  host?: string
  state?: RunState
  exit_code?: number | null
  stop_requested?: boolean
  console_base?: number
  console_shift?: number | null
  events_base?: number
  events_shift?: number | null
}

export interface NewRun {
  projectId: string
  name: string
  userId: string
  displayName: string
}

const storedColumns = [
  "runs.id",
  "runs.project_id",
  "runs.name",
  "runs.user_id",
  "runs.display_name",
  "runs.config",
  "runs.summary",
  "runs.notes",
  "runs.description",
  "runs.tags",
  "runs.group_name",
  "runs.job_type",
  "runs.job_program",
  "runs.job_repo",
  "runs.commit",
  "runs.host",
  "runs.state",
  "runs.exit_code",
  "runs.stop_requested",
  "runs.console_base",
  "runs.console_shift",
  "runs.events_base",
  "runs.events_shift",
  "runs.size_bytes",
  "runs.created_at",
  "runs.heartbeat_at",
] as const

/** Runs joined with their projects, teams and users. */
export function namedRuns(database: CatalogDatabase) {
  return database
    .selectFrom("runs")
    .innerJoin("projects", "projects.id", "runs.project_id")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .innerJoin("users", "users.id", "runs.user_id")
    .select(storedColumns)
    .select(["entities.name as entity", "projects.name as project", "users.username as username"])
}

/** Makes the run unless there is one of this name; whether it did. */
export async function ensureRun(
  database: CatalogDatabase,
  { projectId, name, userId, displayName }: NewRun,
): Promise<{ run: RunRecord; inserted: boolean }> {
  const made = await database
    .insertInto("runs")
    .values({ project_id: projectId, name, user_id: userId, display_name: displayName })
    .onConflict((on) => on.columns(["project_id", "name"]).doNothing())
    .returning("id")
    .executeTakeFirst()
  const run = await findRun(database, projectId, name)
  if (run === null) throw noSuchProject()
  return { run, inserted: made !== undefined }
}

export async function findRun(database: CatalogDatabase, projectId: string, name: string): Promise<RunRecord | null> {
  const row = await namedRuns(database)
    .where("runs.project_id", "=", projectId)
    .where("runs.name", "=", name)
    .executeTakeFirst()
  return row ?? null
}

/** A run of one of these entities. */
export async function findRunById(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<RunRecord | null> {
  if (!isUuid(id) || entityIds.length === 0) return null
  const row = await namedRuns(database)
    .where("runs.id", "=", id)
    .where("entities.id", "in", entityIds)
    .executeTakeFirst()
  return row ?? null
}

/** Finds a run of any team: for callers that have checked access already, such as by a signed address. */
export async function findNamedRun(
  database: CatalogDatabase,
  id: string,
): Promise<(RunRecord & { entity_id: string }) | null> {
  if (!isUuid(id)) return null
  const row = await namedRuns(database).select("entities.id as entity_id").where("runs.id", "=", id).executeTakeFirst()
  return row ?? null
}

/** Writes what was said of the run. `isHeard`: its own client said it, so the run is alive. */
export async function updateRun(
  database: CatalogDatabase,
  run: RunRecord,
  fields: RunFields,
  how: { isHeard: boolean },
): Promise<RunRecord> {
  await writeRun(database, run, fields, { ...how, isUnchanged: false })
  return (await findRun(database, run.project_id, run.name)) ?? run
}

/** {@link updateRun}; null: a document that it would replace is another since `run` was read, and nothing was written. */
export async function updateUnchangedRun(
  database: CatalogDatabase,
  run: RunRecord,
  fields: RunFields,
  how: { isHeard: boolean },
): Promise<RunRecord | null> {
  const isWritten = await writeRun(database, run, fields, { ...how, isUnchanged: true })
  return isWritten ? ((await findRun(database, run.project_id, run.name)) ?? run) : null
}

/** `isUnchanged`: only while the documents that it replaces are those of `run`. Returns whether it was written. */
async function writeRun(
  database: CatalogDatabase,
  run: RunRecord,
  { config, summary, ...fields }: RunFields,
  { isHeard, isUnchanged }: { isHeard: boolean; isUnchanged: boolean },
): Promise<boolean> {
  const texts = countedTexts.map((column) => sizeOf(column, fields[column]))
  const sizes = [sizeOf("config", config?.text), sizeOf("summary", summary?.text), ...texts, sizeOfTags(fields.tags)]
  const written = await database
    // Its size now, and not that of `run`, from which several requests at once would give the same bytes back.
    .with("before", (query) =>
      query.selectFrom("runs").select(["id", "size_bytes"]).where("id", "=", run.id).forNoKeyUpdate(),
    )
    .updateTable("runs")
    .from("before")
    .set({
      ...fields,
      ...(config && { config: config.text, config_values: config.values }),
      ...(summary && { summary: summary.text, summary_values: summary.values }),
      size_bytes: sql<number>`${sql.join(sizes, sql` + `)}`,
      ...(isHeard ? { heartbeat_at: new Date() } : {}),
    })
    .whereRef("runs.id", "=", "before.id")
    .$if(isUnchanged && config !== undefined, (query) => query.where("runs.config", "=", run.config))
    .$if(isUnchanged && summary !== undefined, (query) => query.where("runs.summary", "=", run.summary))
    .returning(sql<number>`runs.size_bytes - before.size_bytes`.as("more"))
    .executeTakeFirst()
  if (written === undefined) return false
  usageOf(database)?.ofProject(run.project_id, written.more)
  return true
}

/** What a client writes of a run besides its documents and tags: 100,000 characters each at most. */
const countedTexts = [
  ...(["display_name", "notes", "description", "group_name"] as const),
  ...(["job_type", "job_program", "job_repo", "commit", "host"] as const),
]

/** Bytes of a column; `given`: what it becomes, else as it is. */
function sizeOf(column: (typeof countedTexts)[number] | "config" | "summary", given: string | undefined) {
  return given === undefined
    ? sql`coalesce(octet_length(${sql.ref(`runs.${column}`)}), 0)`
    : sql`${Buffer.byteLength(given)}::integer`
}

function sizeOfTags(given: readonly string[] | undefined) {
  return given === undefined ? sql`octet_length(runs.tags::text)` : sql`octet_length(${given}::text[]::text)`
}

/** Writes the state of a run that no client's process has begun: the server alone writes to it. */
export async function tellOwnRun(
  database: CatalogDatabase,
  id: string,
  state: "pending" | "running" | "finished" | "failed",
): Promise<void> {
  const exit_code = state === "finished" ? 0 : state === "failed" ? 1 : null
  await database
    .updateTable("runs")
    .set({ state, exit_code, heartbeat_at: new Date() })
    .where("id", "=", id)
    .where("host", "is", null)
    .where("job_program", "is", null)
    .execute()
}

/**
 * Tells that the run of a job's model has failed, where a pause has left it pending and no other job of the model goes on.
 * `database`: the transaction that ends the job, so that jobs of a model that end at the same time take turns, or any
 * once it has ended.
 */
export async function endOwnRunOfJob(database: CatalogDatabase, jobId: string): Promise<void> {
  await database
    .selectFrom("models")
    .select("id")
    .where("id", "in", (job) => job.selectFrom("training_jobs").select("model_id").where("id", "=", jobId))
    .forUpdate()
    .execute()
  const found = await database
    .selectFrom("training_jobs")
    .innerJoin("models", "models.id", "training_jobs.model_id")
    .innerJoin("runs", (join) =>
      join.onRef("runs.project_id", "=", "models.project_id").onRef("runs.name", "=", "models.run_id"),
    )
    .select("runs.id")
    .where("training_jobs.id", "=", jobId)
    .where("runs.state", "=", "pending")
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("training_jobs as other")
            .select("other.id")
            .whereRef("other.model_id", "=", "training_jobs.model_id")
            .whereRef("other.id", "<>", "training_jobs.id")
            .where("other.status", "in", ["queued", "running", "paused"])
            .where("other.started_at", "is not", null),
        ),
      ),
    )
    .executeTakeFirst()
  if (found !== undefined) await tellOwnRun(database, found.id, "failed")
}

/** Keeps how far the console or event lines of the process that writes now are moved (platform-wandb 6.2). */
export async function keepShift(
  database: CatalogDatabase,
  run: RunRecord,
  file: "console" | "events",
  shift: number,
): Promise<void> {
  const column = file === "console" ? { console_shift: shift } : { events_shift: shift }
  await database.updateTable("runs").set(column).where("id", "=", run.id).execute()
}

/** Deletes a run; what it logged is removed later. Returns the SHA-256 of its files; none if another request has deleted it. */
export async function deleteRun(database: CatalogDatabase, run: RunRecord): Promise<string[]> {
  const { files, bytes } = await inTransaction(database, async (transaction) => {
    const locked = await transaction
      .selectFrom("runs")
      .select("size_bytes")
      .where("id", "=", run.id)
      .forUpdate()
      .executeTakeFirst()
    if (locked === undefined) return { files: [], bytes: 0 }
    const gone = await transaction
      .selectFrom("run_files")
      .select(["sha256", "size_bytes"])
      .where("run_id", "=", run.id)
      .execute()
    const said = await transaction.selectFrom("run_alerts").select("size_bytes").where("run_id", "=", run.id).execute()
    await transaction.deleteFrom("runs").where("id", "=", run.id).execute()
    await transaction.insertInto("deleted_runs").values({ id: run.id, project_id: run.project_id }).execute()
    return { files: gone, bytes: [locked, ...gone, ...said].reduce((sum, { size_bytes }) => sum + size_bytes, 0) }
  })
  usageOf(database)?.ofProject(run.project_id, -bytes)
  return files.map(({ sha256 }) => sha256)
}

/** How long a run may say nothing before it is shown as crashed. */
export const silenceMinutes = 5

/** SQL: the state as a reader sees it. A run whose process went away without an end is `crashed`. */
export const reportedStateSql = sql<string>`case when runs.state in ('running', 'preempting')
  and runs.heartbeat_at < now() - make_interval(mins => ${silenceMinutes}) then 'crashed' else runs.state end`

export function reportedState({ state, heartbeat_at }: Pick<RunRecord, "state" | "heartbeat_at">): string {
  const isSilent = heartbeat_at.getTime() < Date.now() - silenceMinutes * 60_000
  return isSilent && (state === "running" || state === "preempting") ? "crashed" : state
}

/** Gives a run another state from one of `from`, as readers see it; false: it is in another one, or gone. */
export async function moveRun(
  database: CatalogDatabase,
  id: string,
  state: RunState,
  from: readonly string[],
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("runs")
    .set({ state, exit_code: null })
    .where("id", "=", id)
    .where(reportedStateSql, "in", from)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
