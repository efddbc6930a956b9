/**
 * The catalog seam: one relational store in one SQL dialect, PGlite inside the process or a
 * PostgreSQL server. Everything else sees a Kysely instance and cannot tell which one runs.
 */
import { PGlite } from "@electric-sql/pglite"
import { Kysely, PostgresDialect, sql } from "kysely"
import { Migrator } from "kysely/migration"
import { realpath } from "node:fs/promises"
import pg from "pg"
import type { Log } from "../../log.ts"
import { isPassing } from "../../errors.ts"
import { defaultLimits } from "../../limits.ts"
import type { FairQueue } from "../../work/fair-queue.ts"
import { ofLaterVersion } from "../later-version.ts"
import { Reachability } from "../reachability.ts"
import { catalogQueue } from "../store-queues.ts"
import { damaged, ensureCatalogFolder } from "./catalog-folder.ts"
import { updateFunctions } from "./catalog-functions.ts"
import * as migration0001 from "./migrations/0001-training.ts"
import * as migration0002 from "./migrations/0002-objects.ts"
import * as migration0003 from "./migrations/0003-annotation-queues.ts"
import * as migration0004 from "./migrations/0004-execution-jobs.ts"
import * as migration0005 from "./migrations/0005-dataset-sources.ts"
import * as migration0006 from "./migrations/0006-catalog-home.ts"
import * as migration0007 from "./migrations/0007-leftovers.ts"
import * as migration0008 from "./migrations/0008-job-users.ts"
import * as migration0009 from "./migrations/0009-audit.ts"
import * as migration0010 from "./migrations/0010-quotas.ts"
import * as migration0011 from "./migrations/0011-sessions.ts"
import * as migration0012 from "./migrations/0012-training-jobs.ts"
import * as migration0013 from "./migrations/0013-runs.ts"
import * as migration0014 from "./migrations/0014-deleted-projects.ts"
import * as migration0015 from "./migrations/0015-stored-responses.ts"
import * as migration0016 from "./migrations/0016-artifacts.ts"
import * as migration0017 from "./migrations/0017-access.ts"
import * as migration0018 from "./migrations/0018-rollouts.ts"
import * as migration0019 from "./migrations/0019-training-sources.ts"
import * as migration0020 from "./migrations/0020-paused-jobs.ts"
import * as migration0021 from "./migrations/0021-preference-jobs.ts"
import * as migration0022 from "./migrations/0022-train-scope.ts"
import * as migration0023 from "./migrations/0023-scoring-rules.ts"
import * as migration0024 from "./migrations/0024-run-alerts.ts"
import * as migration0025 from "./migrations/0025-call-retention.ts"
import * as migration0026 from "./migrations/0026-deleted-runs.ts"
import * as migration0027 from "./migrations/0027-upkeep.ts"
import * as migration0028 from "./migrations/0028-counted-texts.ts"
import { PostgresConnections } from "./postgres-connections.ts"
import { PreparedStatements } from "./prepared-statements.ts"
import type { Catalog } from "./schema.ts"
import { SerialPGliteDialect } from "./serial-pglite.ts"

export type CatalogDatabase = Kysely<Catalog>

const migrations = {
  "0001-training": migration0001,
  "0002-objects": migration0002,
  "0003-annotation-queues": migration0003,
  "0004-execution-jobs": migration0004,
  "0005-dataset-sources": migration0005,
  "0006-catalog-home": migration0006,
  "0007-leftovers": migration0007,
  "0008-job-users": migration0008,
  "0009-audit": migration0009,
  "0010-quotas": migration0010,
  "0011-sessions": migration0011,
  "0012-training-jobs": migration0012,
  "0013-runs": migration0013,
  "0014-deleted-projects": migration0014,
  "0015-stored-responses": migration0015,
  "0016-artifacts": migration0016,
  "0017-access": migration0017,
  "0018-rollouts": migration0018,
  "0019-training-sources": migration0019,
  "0020-paused-jobs": migration0020,
  "0021-preference-jobs": migration0021,
  "0022-train-scope": migration0022,
  "0023-scoring-rules": migration0023,
  "0024-run-alerts": migration0024,
  "0025-call-retention": migration0025,
  "0026-deleted-runs": migration0026,
  "0027-upkeep": migration0027,
  "0028-counted-texts": migration0028,
}

/** Columns of type int8 (`sequence`, `size_bytes`) stay far below 2^53. */
const int8Oid = 20

export interface CatalogLocation {
  /** null: embedded, in `folder`. */
  postgresUrl: string | null
  folder: string
  /** An empty catalog to copy at first start; null: none. */
  template: string | null
  /** Hears when the PostgreSQL server goes away and comes back; absent: nobody does. */
  log?: Log
  /** In front of its connections; absent: one with the limits that the server ships with. */
  queue?: FairQueue
}

/** Opens the catalog and brings its tables up to date. Close it with `destroy()`. */
export async function openCatalog(location: CatalogLocation): Promise<CatalogDatabase> {
  const { postgresUrl, queue = catalogQueue(defaultLimits, postgresUrl === null) } = location
  if (postgresUrl === null) return upToDate(new Kysely<Catalog>({ dialect: await embedded(location, queue) }))
  const connections = remote(postgresUrl, location.log ?? null, queue)
  const database = new Kysely<Catalog>({ dialect: new PostgresDialect({ pool: connections }) })
  await upToDate(database, () => reach(database, postgresUrl))
  connections.limitQueries()
  return database
}

async function upToDate(database: CatalogDatabase, reached?: () => Promise<void>): Promise<CatalogDatabase> {
  try {
    await reached?.()
    if (!(await isCurrent(database))) await migrate(database)
    await updateFunctions(database)
  } catch (error) {
    await database.destroy()
    throw error
  }
  return database
}

/** Rejects when the catalog does not answer. */
export async function pingCatalog(database: CatalogDatabase): Promise<void> {
  await sql`select 1`.execute(database)
}

/**
 * PostgreSQL takes 128 MB of page cache by default; 95 of them were resident and held what the system caches as files anyway.
 * To analyze a table takes 58 MB for as many samples as it does by default, and 15 for these.
 */
const smallMemory = ["-c", "shared_buffers=32MB", "-c", "default_statistics_target=30"]

async function embedded({ folder, template }: CatalogLocation, queue: FairQueue): Promise<SerialPGliteDialect> {
  await ensureCatalogFolder(folder, template)
  // PGlite does not follow a link at the end of the path.
  const dataDir = await realpath(folder)
  const startParams = [...PGlite.defaultStartParams, ...smallMemory]
  const pglite = await PGlite.create({ dataDir, parsers: { [int8Oid]: Number }, startParams }).catch((cause: Error) => {
    // Of a PostgreSQL that ended in it, WebAssembly tells how to build a program.
    const why = cause.message.startsWith("Aborted(") ? "PGlite ended while it read the files" : cause.message
    throw damaged(folder, why.replace(/\.+$/, ""), cause)
  })
  return new SerialPGliteDialect({ pglite: new PreparedStatements(pglite) }, queue)
}

function remote(url: string, log: Log | null, queue: FairQueue): PostgresConnections {
  const types = {
    getTypeParser: (oid: number, format?: "text" | "binary") =>
      oid === int8Oid ? Number : pg.types.getTypeParser(oid, format),
  }
  return new PostgresConnections(
    { connectionString: url, max: queue.slots, types },
    new Reachability("the catalog (PostgreSQL)", log),
    queue,
  )
}

/** @throws {Error} with a sentence for the operator when the server does not answer. */
async function reach(database: CatalogDatabase, url: string): Promise<void> {
  try {
    await pingCatalog(database)
  } catch (cause) {
    const where = URL.parse(url)
    const name = where === null ? "" : ` at ${where.host}${where.pathname}`
    throw new Error(
      `PostgreSQL${name} (HEDDLE_POSTGRES_URL) cannot be used: ${reasonOf(cause)}. ` +
        "See that the setting is right, that the server runs and that it has this user and database",
      { cause },
    )
  }
}

/** The message of PostgreSQL, its disk or the network. A host with several addresses fails once for each, with no own message. */
function reasonOf(error: unknown): string {
  const cause = isPassing(error) ? (error.cause ?? error) : error
  const { message } = cause instanceof AggregateError ? (cause.errors[0] as Error) : (cause as Error)
  return message
}

/** One query instead of the migrator, which reads the whole schema before it knows that there is nothing to do. */
async function isCurrent(database: CatalogDatabase): Promise<boolean> {
  const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(database).then(
    ({ rows }) => new Set(rows.map((row) => row.name)),
    () => new Set<string>(),
  )
  for (const name of applied) if (!(name in migrations)) throw ofLaterVersion("catalog", `it has the migration ${name}`)
  return Object.keys(migrations).every((name) => applied.has(name))
}

const insufficientPrivilege = "42501"

async function migrate(database: CatalogDatabase): Promise<void> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => migrations } })
  const { error, results } = await migrator.migrateToLatest()
  if (error === undefined) return
  const failed = results?.find((result) => result.status === "Error")?.migrationName ?? "none"
  const isForbidden = error instanceof pg.DatabaseError && error.code === insufficientPrivilege
  const wayOut = isForbidden ? ". Let the user of HEDDLE_POSTGRES_URL make tables, as the database's owner may" : ""
  throw new Error(`catalog migration failed (${failed}): ${reasonOf(error)}${wayOut}`, { cause: error })
}
