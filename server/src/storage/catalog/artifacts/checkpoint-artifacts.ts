/** Checkpoints of models and the versions of the `lora` artifacts that they are: training-api 5.4, platform-wandb 9.5. */
import { sql } from "kysely"
import { addMember, setAliases } from "./artifact-aliases.ts"
import type { ArtifactContent } from "./artifact-contents.ts"
import { ensureCollection } from "./artifact-create.ts"
import { inProjectTurn } from "./artifact-lock.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { checkedNewStep } from "../training/new-step.ts"

export interface UnlistedCheckpoint {
  id: string
  project_id: string
  model: string
  base_model: string
  step: number
  /** null: the step that a model begins with. */
  path: string | null
  created_at: Date
  /** How many steps the model had before, deleted ones too. */
  version: number
}

/** Checkpoints of the project's models that no version is yet, the lowest step first. */
export async function checkpointsWithoutArtifact(
  database: CatalogDatabase,
  projectId: string,
): Promise<UnlistedCheckpoint[]> {
  const { rows } = await sql<UnlistedCheckpoint>`
    select c.id, m.project_id, m.name as model, m.base_model, c.step, c.path, c.created_at,
      (select count(*)::int from checkpoints b where b.model_id = c.model_id and b.step < c.step) as version
    from models m join checkpoints c on c.model_id = m.id and c.deleted_at is null
    where m.project_id = ${projectId} and m.deleted_at is null
      and not exists (select 1 from artifacts a where a.checkpoint_id = c.id)
      and not exists (select 1 from artifact_collections o
        where o.project_id = m.project_id and o.name = m.name and (o.type <> 'lora' or o.kind <> 'sequence'))
    order by m.id, c.step`.execute(database)
  return rows
}

/** Versions of which the checkpoint was deleted. `projectId` null: of all projects. */
export async function artifactsWithoutCheckpoint(
  database: CatalogDatabase,
  projectId: string | null,
): Promise<{ id: string; project_id: string }[]> {
  let rows = database
    .selectFrom("artifacts")
    .innerJoin("checkpoints", "checkpoints.id", "artifacts.checkpoint_id")
    .select(["artifacts.id", "artifacts.project_id"])
    .where("checkpoints.deleted_at", "is not", null)
  if (projectId !== null) rows = rows.where("artifacts.project_id", "=", projectId)
  return rows.execute()
}

export interface CheckpointFile extends ArtifactContent {
  path: string
}

/** Lists the checkpoint as a version of its model's collection. false: another server did, or the name is taken. */
export async function listCheckpointArtifact(
  database: CatalogDatabase,
  checkpoint: UnlistedCheckpoint,
  files: readonly CheckpointFile[],
): Promise<boolean> {
  const { id, project_id, model, base_model, step } = checkpoint
  return inProjectTurn(database, project_id, async (transaction) => {
    const collection = { projectId: project_id, name: model, type: "lora", kind: "sequence" } as const
    const collectionId = await ensureCollection(transaction, collection)
    const sizeBytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    const { rows } = await sql<{ id: string }>`
      insert into artifacts (project_id, collection_id, state, digest, metadata, run_id, checkpoint_id, size_bytes,
        file_count, created_at)
      select ${project_id}, ${collectionId}, 'committed', '', ${JSON.stringify({ "wandb.base_model": base_model, step })},
        (select r.id from runs r where r.project_id = ${project_id} and r.name = ${model}),
        ${id}, ${sizeBytes}, ${files.length}, ${checkpoint.created_at}
      on conflict (checkpoint_id) do nothing returning id`.execute(transaction)
    const made = rows[0]?.id
    if (made === undefined) return false
    await transaction
      .insertInto("artifact_contents")
      .values(
        files.map(({ digest, sha256, size_bytes }) => ({
          project_id,
          digest,
          sha256,
          size_bytes,
          is_of_checkpoint: true,
        })),
      )
      .onConflict((on) => on.doNothing())
      .execute()
    await transaction
      .insertInto("artifact_entries")
      .values(
        files.map(({ path, digest, size_bytes }) => ({
          artifact_id: made,
          path,
          project_id,
          digest,
          size_bytes,
          ref: null,
          extra: null,
        })),
      )
      .execute()
    // A number tells the place among all steps there were, as it does in the names of models that chat takes.
    await sql`update artifact_collections set next_version = greatest(next_version, ${checkpoint.version})
      where id = ${collectionId}`.execute(transaction)
    const member = { collection_id: collectionId, artifact_id: made }
    const version = await addMember(transaction, member)
    await sql`update artifacts set version = ${version}, digest = (
        select md5('wandb-artifact-manifest-v1' || chr(10) ||
          string_agg(e.path || ':' || e.digest || chr(10), '' order by e.path))
        from artifact_entries e where e.artifact_id = ${made})
      where id = ${made}`.execute(transaction)
    await setAliases(transaction, member, [`step${step}`, "latest"])
    return true
  })
}

export interface Adoption {
  artifactId: string
  modelId: string
  /** null: the one after the newest. */
  step: number | null
}

/** The step that the version becomes. @throws {HeddleError} as {@link checkedNewStep}. */
export function adoptableStep(database: CatalogDatabase, { modelId, step }: Adoption): Promise<number> {
  const otherStep = (next: number) => `give the version the alias step${next} or a higher one`
  return checkedNewStep(database, { modelId, step, otherStep })
}

export interface AdoptedFolder {
  step: number
  /** Relative to the data folder; null: the base model's own function. */
  path: string | null
  sizeBytes: number
  manifestSha256: string | null
}

/**
 * Makes the version a checkpoint of the model, which is the newest then. Runs {@link adoptableStep} again. `place` puts the
 * folder where the row says just before that is committed.
 */
export async function adoptArtifact(
  database: CatalogDatabase,
  projectId: string,
  adoption: Adoption,
  { step, path, sizeBytes, manifestSha256 }: AdoptedFolder,
  place: () => Promise<void>,
): Promise<void> {
  await inProjectTurn(database, projectId, async (transaction) => {
    await adoptableStep(transaction, { ...adoption, step })
    const { id } = await transaction
      .insertInto("checkpoints")
      .values({
        model_id: adoption.modelId,
        step,
        metrics: "{}",
        path,
        size_bytes: sizeBytes,
        manifest_sha256: manifestSha256,
        // An adapter has no state of an optimizer.
        optimizer_removed_at: path === null ? null : sql<Date>`now()`,
      })
      .returning("id")
      .executeTakeFirstOrThrow()
    await transaction.updateTable("models").set({ last_step: step }).where("id", "=", adoption.modelId).execute()
    await transaction
      .updateTable("artifacts")
      .set({ checkpoint_id: id })
      .where("id", "=", adoption.artifactId)
      .execute()
    if (path === null) return
    await sql`update artifact_contents c set is_of_checkpoint = true from artifact_entries e
      where e.artifact_id = ${adoption.artifactId} and c.project_id = e.project_id and c.digest = e.digest
        and e.path in ('adapter_config.json', 'adapter_model.safetensors')`.execute(transaction)
    await place()
  })
}

export async function isCheckpoint(database: CatalogDatabase, artifactId: string): Promise<boolean> {
  const row = await database
    .selectFrom("artifacts")
    .select("checkpoint_id")
    .where("id", "=", artifactId)
    .executeTakeFirst()
  return row !== undefined && row.checkpoint_id !== null
}

/** Whether a job of the model was ever made. */
export async function hasJobs(database: CatalogDatabase, modelId: string): Promise<boolean> {
  const job = database.selectFrom("training_jobs").select("id").where("model_id", "=", modelId).limit(1)
  return (await job.executeTakeFirst()) !== undefined
}

/** Versions of a model's collection that are no checkpoint of it yet, with what they are called. */
export async function versionsToAdopt(
  database: CatalogDatabase,
  { projectId, name }: { projectId: string; name: string },
): Promise<{ id: string; aliases: string[] }[]> {
  const { rows } = await sql<{ id: string; aliases: string[] }>`
    select a.id, coalesce(json_agg(l.alias) filter (where l.alias is not null), '[]') as aliases
    from artifact_collections c join artifacts a on a.collection_id = c.id and a.state = 'committed'
    left join artifact_aliases l on l.artifact_id = a.id and l.collection_id = c.id
    where c.project_id = ${projectId} and c.name = ${name} and c.type = 'lora' and c.kind = 'sequence'
      and a.checkpoint_id is null
    group by a.id, a.version order by a.version`.execute(database)
  return rows
}
