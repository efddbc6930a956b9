/**
 * Deleting a project: one transaction takes it out of sight, and what was stored under its id is removed later, in
 * statements that may be repeated and that leave others room between them.
 */
import { type RawBuilder, sql } from "kysely"
import { restoreLatest } from "../artifacts/artifact-aliases.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface DeletedProject {
  id: string
  entityId: string
  deletedAt: Date
}

/** Number of rows that a project had in the catalog. */
export interface ProjectCounts {
  models: number
  training_jobs: number
  object_versions: number
  files: number
  annotation_queues: number
  runs: number
}

/**
 * Deletes the project of this name: its name is free, no query finds it, its models are deleted and the work that the
 * server does for it is ended. null: there is none. Call `forgetProjects` when it is committed.
 */
export async function deleteProject(
  database: CatalogDatabase,
  entityId: string,
  name: string,
): Promise<{ id: string; counts: ProjectCounts } | null> {
  return inTransaction(database, async (transaction) => {
    // It waits for those who store something in the project at this moment.
    const project = await transaction
      .selectFrom("all_projects")
      .select("id")
      .where("entity_id", "=", entityId)
      .where("name", "=", name)
      .where("deleted_at", "is", null)
      .forUpdate()
      .executeTakeFirst()
    if (project === undefined) return null
    const { id } = project
    const counts = await countsOf(transaction, id)
    await transaction
      .updateTable("all_projects")
      .set({ deleted_at: sql<Date>`now()` })
      .where("id", "=", id)
      .execute()
    await deleteModels(transaction, id)
    await transaction
      .updateTable("execution_jobs")
      .set({
        status: "failed",
        error_message: "the project was deleted",
        lease_owner: null,
        lease_expires_at: null,
        ended_at: sql<Date>`now()`,
      })
      .where("project_id", "=", id)
      .where("status", "in", ["queued", "running"])
      .execute()
    return { id, counts }
  })
}

async function countsOf(transaction: CatalogDatabase, id: string): Promise<ProjectCounts> {
  const { rows } = await sql<ProjectCounts>`
    select (select count(*) from models where project_id = ${id} and deleted_at is null) as models,
      (select count(*) from training_jobs where model_id in (select m.id from models m where m.project_id = ${id})) as training_jobs,
      (select count(*) from object_versions where project_id = ${id} and deleted_at is null) as object_versions,
      (select count(*) from project_files where project_id = ${id}) as files,
      (select count(*) from annotation_queues where project_id = ${id} and deleted_at is null) as annotation_queues,
      (select count(*) from runs where project_id = ${id}) as runs`.execute(transaction)
  const [counts] = rows
  if (counts === undefined) throw new Error("a select of counts gave no row")
  return counts
}

/** Also those that were made while the project was deleted: the scheduler ends the jobs of deleted models. */
async function deleteModels(database: CatalogDatabase, projectId: string): Promise<void> {
  const now = sql<Date>`now()`
  await database
    .updateTable("models")
    .set({ deleted_at: now })
    .where("project_id", "=", projectId)
    .where("deleted_at", "is", null)
    .execute()
  await database
    .updateTable("checkpoints")
    .set({ deleted_at: now })
    .where("model_id", "in", (eb) => eb.selectFrom("models").select("id").where("project_id", "=", projectId))
    .where("deleted_at", "is", null)
    .execute()
}

/** The oldest first. */
export async function deletedProjects(database: CatalogDatabase): Promise<DeletedProject[]> {
  return database
    .selectFrom("all_projects")
    .select(["id", "entity_id as entityId", sql<Date>`deleted_at`.as("deletedAt")])
    .where("deleted_at", "is not", null)
    .orderBy("deleted_at")
    .execute()
}

/** Forgets a deleted project of which nothing is left. */
export async function forgetProject(database: CatalogDatabase, { id }: DeletedProject): Promise<void> {
  await database.deleteFrom("all_projects").where("id", "=", id).where("deleted_at", "is not", null).execute()
}

/** Rows that one statement removes. */
const removedAtOnce = 2_000

interface RemovedTable {
  name: string
  rows: RawBuilder<unknown>
  /** The column that names a blob. */
  blob?: string
  /** Removes some in another way than {@link removeSome}. */
  remove?: typeof removeSome
}

/** Tables of a project without its models, those first that name rows of others. */
function tablesOf(id: string): RemovedTable[] {
  const ofProject = sql`project_id = ${id}`
  const ofArtifact = sql`artifact_id in (select a.id from artifacts a where a.project_id = ${id})`
  const ofQueue = sql`queue_id in (select q.id from annotation_queues q where q.project_id = ${id})`
  const ofItem = sql`item_id in (select i.id from annotation_items i where i.queue_id in
    (select q.id from annotation_queues q where q.project_id = ${id}))`
  const ofRollout = sql`rollout in (select r.id from rollouts r where r.project_id = ${id})`
  return [
    { name: "annotation_final_labels", rows: ofItem },
    { name: "annotation_leases", rows: ofItem },
    { name: "annotation_history", rows: ofItem },
    { name: "annotation_progress", rows: ofItem },
    { name: "annotation_cursors", rows: ofQueue },
    { name: "annotation_items", rows: ofQueue },
    { name: "annotation_queues", rows: ofProject },
    { name: "dataset_sources", rows: ofProject },
    { name: "object_tags", rows: ofProject },
    { name: "object_aliases", rows: ofProject },
    { name: "object_versions", rows: ofProject },
    { name: "project_files", rows: ofProject, blob: "sha256" },
    { name: "run_files", rows: sql`run_id in (select r.id from runs r where r.project_id = ${id})`, blob: "sha256" },
    { name: "run_alerts", rows: ofProject },
    {
      name: "artifact_parts",
      rows: sql`upload_id in (select u.id from artifact_uploads u join artifacts a on a.id = u.artifact_id where a.${ofProject})`,
      blob: "sha256",
    },
    { name: "artifact_manifests", rows: ofArtifact, blob: "sha256" },
    { name: "artifact_contents", rows: ofProject, blob: "sha256" },
    { name: "artifact_entries", rows: ofProject },
    { name: "artifact_runs", rows: ofArtifact },
    // Rows that belong to these are deleted with them.
    { name: "artifacts", rows: ofProject, remove: removeArtifacts },
    { name: "artifact_collections", rows: ofProject },
    { name: "runs", rows: ofProject },
    { name: "deleted_runs", rows: ofProject },
    { name: "execution_jobs", rows: ofProject },
    // The calls that wait for them go with them.
    { name: "scoring_rules", rows: ofProject },
    { name: "call_retention", rows: ofProject },
    { name: "open_calls", rows: ofProject },
    { name: "completion_usage", rows: ofProject },
    { name: "stored_responses", rows: ofProject },
    { name: "rollout_rewards", rows: ofRollout },
    { name: "rollout_turns", rows: ofRollout },
    { name: "rollouts", rows: ofProject },
  ]
}

function tablesOfModel(modelId: string): RemovedTable[] {
  const ofModel = sql`model_id = ${modelId}`
  return [
    {
      name: "training_job_events",
      rows: sql`job_id in (select j.id from training_jobs j where j.model_id = ${modelId})`,
    },
    { name: "training_jobs", rows: ofModel, blob: "data_sha256" },
    { name: "trajectory_logs", rows: ofModel, blob: "data_sha256" },
    { name: "checkpoints", rows: ofModel },
    { name: "models", rows: sql`id = ${modelId}` },
  ]
}

export interface RemovedRows {
  count: number
  /** SHA-256 of what they named; other rows may name it too. */
  blobs: string[]
}

/** Removes the rows of a deleted project, some at a time, until `signal` is given. Its models stay. */
export function removeProjectRows(
  database: CatalogDatabase,
  { id }: DeletedProject,
  signal: AbortSignal,
): AsyncGenerator<RemovedRows> {
  return removeRows(database, tablesOf(id), signal)
}

/** {@link removeProjectRows} of one of its models, which nothing runs for any more. */
export function removeModelRows(
  database: CatalogDatabase,
  modelId: string,
  signal: AbortSignal,
): AsyncGenerator<RemovedRows> {
  return removeRows(database, tablesOfModel(modelId), signal)
}

async function* removeRows(
  database: CatalogDatabase,
  tables: readonly RemovedTable[],
  signal: AbortSignal,
): AsyncGenerator<RemovedRows> {
  for (const table of tables) {
    for (let count = removedAtOnce; count === removedAtOnce && !signal.aborted;) {
      const removed = await (table.remove ?? removeSome)(database, table)
      count = removed.length
      const blobs = new Set(removed.filter((sha256) => sha256 !== null && sha256 !== ""))
      if (count > 0) yield { count, blobs: [...blobs] as string[] }
    }
  }
}

/** Removes at most {@link removedAtOnce} rows; returns what each named as its blob. */
async function removeSome(
  database: CatalogDatabase,
  { name, rows, blob }: Pick<RemovedTable, "name" | "rows" | "blob">,
): Promise<(string | null)[]> {
  const table = sql.table(name)
  const named = blob === undefined ? sql`null` : sql.ref(blob)
  const removed = await sql<{ sha256: string | null }>`
    delete from ${table} where ctid = any(array(select ctid from ${table} where ${rows} limit ${removedAtOnce}))
    returning ${named} as sha256`.execute(database)
  return removed.rows.map(({ sha256 }) => sha256)
}

/** Where collections of other projects had a version that goes, `latest` falls to the highest that is left: platform-wandb 9.4. */
function removeArtifacts(database: CatalogDatabase, { rows }: Pick<RemovedTable, "rows">): Promise<null[]> {
  return inTransaction(database, async (transaction) => {
    // Locked, so that none is linked to another collection meanwhile.
    const gone = await sql<{ id: string }>`
      select id from artifacts where ${rows} limit ${removedAtOnce} for update`.execute(transaction)
    const ids = gone.rows.map(({ id }) => id)
    const elsewhere = await sql<{ id: string }>`
      select distinct c.id from artifact_memberships m
      join artifact_collections c on c.id = m.collection_id join projects p on p.id = c.project_id
      where m.artifact_id = any(${ids}::uuid[])`.execute(transaction)
    await sql`delete from artifacts where id = any(${ids}::uuid[])`.execute(transaction)
    for (const { id } of elsewhere.rows) await restoreLatest(transaction, id)
    return ids.map(() => null)
  })
}

export interface DeletedProjectModel {
  id: string
  jobIds: string[]
  /** A job of it is open, or its server has not let go of it yet. */
  isWorkedOn: boolean
}

/** The models of a deleted project, which are deleted too. */
export async function modelsOfDeletedProject(
  database: CatalogDatabase,
  { id }: DeletedProject,
): Promise<DeletedProjectModel[]> {
  await deleteModels(database, id)
  const { rows } = await sql<{ id: string; jobIds: string[]; isWorkedOn: boolean }>`
    select m.id, coalesce(json_agg(j.id) filter (where j.id is not null), '[]') as "jobIds",
      coalesce(bool_or(j.status in ('queued', 'running', 'paused') or (j.lease_owner is not null and j.lease_expires_at > now())), false)
        as "isWorkedOn"
    from models m left join training_jobs j on j.model_id = m.id
    where m.project_id = ${id} group by m.id`.execute(database)
  return rows
}
