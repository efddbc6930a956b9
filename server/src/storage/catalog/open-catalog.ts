/**
 * The catalog seam: one relational store in one SQL dialect, PGlite inside the process or a
 * PostgreSQL server. Everything else sees a Kysely instance and cannot tell which one runs.
 */
import { PGlite } from "@electric-sql/pglite"
import { Kysely, PostgresDialect, sql } from "kysely"
import { Migrator } from "kysely/migration"
import pg from "pg"
import { ensureCatalogFolder } from "./catalog-folder.ts"
import * as migration0001 from "./migrations/0001-training.ts"
import * as migration0002 from "./migrations/0002-objects.ts"
import * as migration0003 from "./migrations/0003-annotation-queues.ts"
import * as migration0004 from "./migrations/0004-execution-jobs.ts"
import * as migration0005 from "./migrations/0005-dataset-sources.ts"
import type { Catalog } from "./schema.ts"
import { SerialPGliteDialect } from "./serial-pglite.ts"

export type CatalogDatabase = Kysely<Catalog>

const migrations = {
  "0001-training": migration0001,
  "0002-objects": migration0002,
  "0003-annotation-queues": migration0003,
  "0004-execution-jobs": migration0004,
  "0005-dataset-sources": migration0005,
}

/** Columns of type int8 (`sequence`, `size_bytes`) stay far below 2^53. */
const int8Oid = 20

export interface CatalogLocation {
  /** null: embedded, in `folder`. */
  postgresUrl: string | null
  folder: string
  /** An empty catalog to copy at first start; null: none. */
  template: string | null
}

/** Opens the catalog and brings its tables up to date. Close it with `destroy()`. */
export async function openCatalog(location: CatalogLocation): Promise<CatalogDatabase> {
  const database = new Kysely<Catalog>({
    dialect: location.postgresUrl === null ? await embedded(location) : remote(location.postgresUrl),
  })
  try {
    if (!(await isCurrent(database))) await migrate(database)
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

async function embedded({ folder, template }: CatalogLocation): Promise<SerialPGliteDialect> {
  await ensureCatalogFolder(folder, template)
  const pglite = await PGlite.create({ dataDir: folder, parsers: { [int8Oid]: Number } })
  return new SerialPGliteDialect({ pglite })
}

function remote(url: string): PostgresDialect {
  const types = {
    getTypeParser: (oid: number, format?: "text" | "binary") =>
      oid === int8Oid ? Number : pg.types.getTypeParser(oid, format),
  }
  return new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 16, types }) })
}

/** One query instead of the migrator, which reads the whole schema before it knows that there is nothing to do. */
async function isCurrent(database: CatalogDatabase): Promise<boolean> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(database)
    const applied = new Set(rows.map((row) => row.name))
    return Object.keys(migrations).every((name) => applied.has(name))
  } catch {
    return false
  }
}

async function migrate(database: CatalogDatabase): Promise<void> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => migrations } })
  const { error, results } = await migrator.migrateToLatest()
  if (error === undefined) return
  const failed = results?.find((result) => result.status === "Error")?.migrationName ?? "none"
  throw new Error(`catalog migration failed (${failed})`, { cause: error })
}
