/**
 * Makes a catalog for one test file, and rows in it: on PGlite, or in a database of its own on the PostgreSQL server of
 * `HEDDLE_TEST_POSTGRES_URL`.
 */
import { rmSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { type CatalogDatabase, openCatalog } from "../../src/storage/catalog/open-catalog.ts"
import { copyCatalogTemplate } from "./catalog-template.ts"
import { createDatabase } from "./postgres-database.ts"
import type { RlConfig } from "../../src/wire/engine/train.ts"

export interface TestCatalog {
  database: CatalogDatabase
  /** A data folder of its own. */
  dataDir: string
  close(): Promise<void>
}

/** Opens a catalog on the PostgreSQL server at the address `server`; null for PGlite. */
export async function openTestCatalog(
  server: string | null = process.env["HEDDLE_TEST_POSTGRES_URL"] ?? null,
): Promise<TestCatalog> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-test-"))
  const postgresUrl = server === null ? null : await createDatabase(server)
  if (postgresUrl === null) await copyCatalogTemplate(dataDir)
  const database = await openCatalog({ postgresUrl, folder: path.join(dataDir, "catalog"), template: null })
  const close = async () => {
    await database.destroy()
    // It holds a thousand files, which the thread pool takes four times as long for.
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { database, dataDir, close }
}

export interface TestTenant {
  entityId: string
  entity: string
  userId: string
  apiKeyId: string
  projectId: string
  project: string
}

/** Adds an entity with a user, a key and a project, all named after `name`. */
export async function addTenant(database: CatalogDatabase, name: string): Promise<TestTenant> {
  const entity = await database.insertInto("entities").values({ name }).returning("id").executeTakeFirstOrThrow()
  const user = await addUser(database, entity.id, name)
  const projectId = await addProject(database, entity.id, "demo")
  return { entityId: entity.id, entity: name, ...user, projectId, project: "demo" }
}

/** Adds a user of this entity with a key, both named after `name`. */
export async function addUser(
  database: CatalogDatabase,
  entityId: string,
  name: string,
): Promise<{ userId: string; apiKeyId: string }> {
  const user = await database
    .insertInto("users")
    .values({ username: name, default_entity_id: entityId, is_admin: false })
    .returning("id")
    .executeTakeFirstOrThrow()
  const key = await database
    .insertInto("api_keys")
    .values({ user_id: user.id, name: "test", sha256: name.padEnd(64, "-"), hint: "0000" })
    .returning("id")
    .executeTakeFirstOrThrow()
  return { userId: user.id, apiKeyId: key.id }
}

export async function addProject(database: CatalogDatabase, entityId: string, name: string): Promise<string> {
  const row = await database
    .insertInto("projects")
    .values({ entity_id: entityId, name })
    .returning("id")
    .executeTakeFirstOrThrow()
  return row.id
}

/** Adds a model with its checkpoint of step 0; returns its id. */
export async function addModel(database: CatalogDatabase, projectId: string, name: string): Promise<string> {
  const model = await database
    .insertInto("models")
    .values({
      project_id: projectId,
      name,
      base_model: "heddle/tiny",
      base_path: "/models/tiny",
      run_id: name,
    })
    .returning("id")
    .executeTakeFirstOrThrow()
  await addCheckpoint(database, model.id, 0, null)
  return model.id
}

export async function addCheckpoint(
  database: CatalogDatabase,
  modelId: string,
  step: number,
  folder: string | null,
): Promise<void> {
  await database
    .insertInto("checkpoints")
    .values({
      model_id: modelId,
      step,
      metrics: "{}",
      path: folder,
      size_bytes: 0,
      manifest_sha256: folder === null ? null : manifestSha256,
    })
    .execute()
  await database.updateTable("models").set({ last_step: step }).where("id", "=", modelId).execute()
}

/** Of checkpoints that {@link addCheckpoint} adds. */
export const manifestSha256 = "5e".repeat(32)

export async function deleteStep(database: CatalogDatabase, modelId: string, step: number): Promise<void> {
  await database
    .updateTable("checkpoints")
    .set({ deleted_at: new Date() })
    .where("model_id", "=", modelId)
    .where("step", "=", step)
    .execute()
}

const rlConfig: RlConfig = {
  learning_rate: 5e-6,
  loss_fn: "cispo",
  epsilon: 1,
  epsilon_high: 4,
  importance_sampling_level: "token",
  advantage_balance: 0,
  scale_rewards: true,
  max_negative_advantage_importance_sampling_weight: null,
  mask_prob_ratio: false,
  kimi_k2_tau: null,
  precalculate_logprobs: false,
  truncated_importance_sampling: null,
  kl_penalty_coef: 0,
  kl_penalty_source: "current_learner",
  allow_training_without_logprobs: false,
  logprob_calculation_chunk_size: 1024,
  packed_sequence_length: null,
  num_trajectories_learning_rate_multiplier_power: 0,
  learning_rate_multiplier: 1,
}

export interface TestJob {
  modelId: string
  userId?: string
  /** Path of the data, relative to the data folder. */
  dataPath?: string
  klReference?: { step: number } | { lag: number } | null
}

/** Adds a queued RL job; returns its id. */
export async function addJob(database: CatalogDatabase, job: TestJob): Promise<string> {
  const config = {
    kind: "rl",
    engine: rlConfig,
    kl_reference: job.klReference ?? null,
    checkpoint_metrics: { "train/reward": 0.5 },
  }
  const row = await database
    .insertInto("training_jobs")
    .values({
      model_id: job.modelId,
      user_id: job.userId ?? null,
      kind: "rl",
      config: JSON.stringify(config),
      requested_config: "null",
      data_path: job.dataPath ?? "data.jsonl",
      data_sha256: "0".repeat(64),
      warnings: "[]",
    })
    .returning("id")
    .executeTakeFirstOrThrow()
  return row.id
}
