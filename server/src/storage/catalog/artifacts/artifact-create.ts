/** The beginning of an artifact: platform-wandb 9.2. */
import { type Transaction, sql } from "kysely"
import { HeddleError } from "../../../errors.ts"
import { usageOf } from "../../team-usage.ts"
import { setAliases } from "./artifact-aliases.ts"
import { inProjectTurn } from "./artifact-lock.ts"
import { countTexts } from "./artifact-texts.ts"
import { type ArtifactRecord, findAnyArtifact } from "./artifacts.ts"
import { findCollection } from "./artifact-collections.ts"
import { isLive } from "./live-artifacts.ts"
import { noteWork } from "./pending-artifacts.ts"
import type { CollectionKind } from "./artifacts-schema.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { noSuchProject } from "../accounts/projects.ts"
import type { Catalog } from "../schema.ts"

export interface NewArtifact {
  projectId: string
  type: string
  collection: string
  digest: string
  aliases: readonly string[]
  tags: readonly string[]
  description: string | null
  metadata: string | null
  ttl: TimeToLive
  historyStep: number | null
  runId: string | null
  userId: string
  clientId: string | null
  distributedId: string | null
  /** A version of the same digest is this one. */
  deduplicates: boolean
}

export interface TimeToLive {
  ttl_seconds: number | null
  ttl_is_inherited: boolean
}

/** Committed: the collection has a version of this digest, which has the names of this one now. */
export async function createArtifact(database: CatalogDatabase, made: NewArtifact): Promise<ArtifactRecord> {
  const created = await inProjectTurn(database, made.projectId, async (transaction) => {
    const { projectId, collection, type } = made
    const collectionId = await ensureCollection(transaction, { projectId, name: collection, type, kind: "sequence" })
    const shared = made.distributedId === null ? null : await findShared(transaction, collectionId, made.distributedId)
    if (shared !== null) await noteWork(transaction, [shared])
    const known = shared?.id ?? (made.deduplicates ? await findEqual(transaction, collectionId, made) : null)
    const id = known ?? (await insertPending(transaction, collectionId, made))
    if (made.clientId !== null) {
      const client = { client_id: made.clientId, artifact_id: id }
      await transaction
        .insertInto("artifact_clients")
        .values(client)
        .onConflict((on) => on.doNothing())
        .execute()
    }
    const isEqual = known !== null && shared === null
    const added = isEqual ? await takeNames(transaction, collectionId, id, made) : 0
    const artifact = await findAnyArtifact(transaction, id)
    if (artifact === null) throw noSuchProject()
    return { artifact, added }
  })
  if (created.added !== 0) usageOf(database)?.ofProject(made.projectId, created.added)
  return created.artifact
}

export interface CollectionName {
  projectId: string
  name: string
  type: string
  kind: CollectionKind
}

/** @throws {HeddleError} `invalid_request` when the name is of a collection of another type or kind. */
export async function ensureCollection(
  transaction: CatalogDatabase,
  { projectId, name, type, kind }: CollectionName,
): Promise<string> {
  await transaction
    .insertInto("artifact_collections")
    .values({ project_id: projectId, kind, type, name })
    .onConflict((on) => on.columns(["project_id", "name"]).doNothing())
    .execute()
  const found = await findCollection(transaction, projectId, name)
  if (found === null) throw noSuchProject()
  if (found.type !== type) {
    const message = `"${name}" holds artifacts of type "${found.type}", and this one is of type "${type}"`
    throw new HeddleError("invalid_request", `${message}; choose another name, or that type`)
  }
  if (found.kind !== kind) {
    const message =
      kind === "sequence"
        ? `"${name}" is a collection that versions of others are linked to; log under another name`
        : `"${name}" holds versions that were logged to it; link to a collection of another name`
    throw new HeddleError("invalid_request", message)
  }
  return found.id
}

/** Several processes make one artifact together, while it is not committed. */
async function findShared(
  transaction: CatalogDatabase,
  collectionId: string,
  distributedId: string,
): Promise<{ id: string; updated_at: Date } | null> {
  const row = await transaction
    .selectFrom("artifacts")
    .select(["id", "updated_at"])
    .where("collection_id", "=", collectionId)
    .where("distributed_id", "=", distributedId)
    .where("state", "=", "pending")
    .executeTakeFirst()
  return row ?? null
}

const stepAlias = /^step\d+$/

/** The newest version of this digest. */
async function findEqual(
  transaction: CatalogDatabase,
  collectionId: string,
  { digest, type, aliases }: NewArtifact,
): Promise<string | null> {
  const row = await transaction
    .selectFrom("artifacts")
    .select("artifacts.id")
    .where("artifacts.collection_id", "=", collectionId)
    .where("artifacts.digest", "=", digest)
    .where(isLive)
    .orderBy("artifacts.version", "desc")
    .executeTakeFirst()
  if (row === undefined) return null
  if (type !== "lora") return row.id
  // Readers of models take the first step that a version is called: two of equal bytes are two versions.
  const steps = aliases.filter((alias) => stepAlias.test(alias))
  if (steps.length === 0) return row.id
  const own = await transaction
    .selectFrom("artifact_aliases")
    .select("alias")
    .where("artifact_id", "=", row.id)
    .where("collection_id", "=", collectionId)
    .execute()
  return own.every(({ alias }) => !stepAlias.test(alias) || steps.includes(alias)) ? row.id : null
}

async function insertPending(transaction: CatalogDatabase, collectionId: string, made: NewArtifact): Promise<string> {
  const { id } = await transaction
    .insertInto("artifacts")
    .values({
      project_id: made.projectId,
      collection_id: collectionId,
      version: null,
      digest: made.digest,
      description: made.description,
      metadata: made.metadata,
      aliases: [...made.aliases],
      tags: [...new Set(made.tags)],
      ...made.ttl,
      history_step: made.historyStep,
      run_id: made.runId,
      user_id: made.userId,
      distributed_id: made.distributedId,
      checkpoint_id: null,
    })
    .returning("id")
    .executeTakeFirstOrThrow()
  return id
}

/** Does what a commit would have done: the existing version takes the names of the one that was not made. Returns their bytes. */
async function takeNames(
  transaction: Transaction<Catalog>,
  collectionId: string,
  id: string,
  { aliases, tags, runId }: NewArtifact,
): Promise<number> {
  await setAliases(transaction, { collection_id: collectionId, artifact_id: id }, [...aliases, "latest"])
  if (runId !== null) await linkRun(transaction, id, runId, "output")
  return tags.length > 0 ? countTexts(transaction, id, () => addTags(transaction, id, tags)) : 0
}

export async function addTags(
  transaction: CatalogDatabase,
  artifactId: string,
  tags: readonly string[],
): Promise<void> {
  await transaction
    .updateTable("artifacts")
    .set({
      tags: sql<string[]>`array(select distinct tag from unnest(tags || ${[...tags]}::text[]) as tag order by tag)`,
      updated_at: sql<Date>`now()`,
    })
    .where("id", "=", artifactId)
    .execute()
}

/** Notes that a run made or used the version; again changes nothing. */
export async function linkRun(
  database: CatalogDatabase,
  artifactId: string,
  runId: string,
  kind: "output" | "input",
): Promise<void> {
  await inTransaction(database, (transaction) =>
    transaction
      .insertInto("artifact_runs")
      .values({ artifact_id: artifactId, run_id: runId, kind })
      .onConflict((on) => on.doNothing())
      .execute(),
  )
}
