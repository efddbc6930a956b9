/** Copies all rows of one catalog into another, which is empty: both have the tables of this version. */
import { sql, type Transaction } from "kysely"
import path from "node:path"
import { type CatalogDatabase, openCatalog } from "../catalog/open-catalog.ts"
import type { Catalog } from "../catalog/schema.ts"
import { embeddedCatalog, type Move, type MoveSettings } from "./move.ts"

interface Column {
  name: string
  /** As SQL names it. */
  type: string
}

/** Rows that are held at once. Each may be some MB. */
const rowsAtOnce = 100

/** Opens both catalogs and brings their tables up to this version. */
export async function openCatalogMove({ dataDir, postgresUrl, stopped }: MoveSettings): Promise<Move> {
  const folder = path.join(dataDir, embeddedCatalog.folder)
  const source = await openCatalog({ postgresUrl: null, folder, template: null })
  try {
    const target = await openCatalog({ postgresUrl, folder, template: null })
    return {
      filled: () => filledCatalogTables(target),
      copy: () => moveCatalog(source, target, stopped),
      // A copy that fails, or is cut off, has left nothing.
      undo: async () => undefined,
      finish: async () => undefined,
      close: async () => {
        await source.destroy()
        await target.destroy()
      },
    }
  } catch (error) {
    await source.destroy()
    throw error
  }
}

/** Names of tables that hold rows. Those that say which migrations ran are not looked at. */
export async function filledCatalogTables(database: CatalogDatabase): Promise<string[]> {
  const filled: string[] = []
  for (const table of await tablesOf(database)) {
    const { rows } = await sql<{ has: boolean }>`select exists (select from ${sql.table(table)}) as has`.execute(
      database,
    )
    if (rows[0]?.has === true) filled.push(table)
  }
  return filled
}

/** The copy is whole or not made. Returns the number of rows. */
async function moveCatalog(source: CatalogDatabase, target: CatalogDatabase, stopped: AbortSignal): Promise<number> {
  const tables = await tablesOf(source)
  return target.transaction().execute(async (transaction) => {
    // Rows come table by table: what they refer to may come later.
    const foreignKeys = await takeForeignKeys(transaction)
    let copied = 0
    for (const table of tables) {
      stopped.throwIfAborted()
      copied += await copyTable(source, transaction, table)
    }
    await copySequences(source, transaction)
    for (const statement of foreignKeys) await sql.raw(statement).execute(transaction)
    return copied
  })
}

async function tablesOf(database: CatalogDatabase): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname not like 'kysely%'
    order by relname`.execute(database)
  return rows.map(({ name }) => name)
}

async function columnsOf(database: CatalogDatabase, table: string): Promise<Column[]> {
  const { rows } = await sql<Column>`
    select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = (current_schema() || '.' || quote_ident(${table}))::regclass
      and attnum > 0 and not attisdropped and attgenerated = ''
    order by attname`.execute(database)
  return rows
}

/** Values go as the texts that PostgreSQL writes and reads: no type loses anything by that. */
async function copyTable(source: CatalogDatabase, target: Transaction<Catalog>, table: string): Promise<number> {
  const columns = await columnsOf(source, table)
  const texts = sql.join(columns.map(({ name }) => sql`${sql.ref(name)}::text`))
  const names = sql.join(columns.map(({ name }) => sql.ref(name)))
  const values = sql.join(columns.map(({ type }, index) => sql`(line ->> ${sql.lit(index)})::${sql.raw(type)}`))
  let copied = 0
  await source.transaction().execute(async (reading) => {
    await sql`declare moved no scroll cursor for
      select json_build_array(${texts})::text as line from ${sql.table(table)}`.execute(reading)
    for (;;) {
      const { rows } = await sql<{ line: string }>`fetch forward ${sql.lit(rowsAtOnce)} from moved`.execute(reading)
      if (rows.length === 0) break
      await sql`insert into ${sql.table(table)} (${names}) overriding system value
        select ${values} from json_array_elements(${`[${rows.map(({ line }) => line).join(",")}]`}::json) as line`.execute(
        target,
      )
      copied += rows.length
    }
    await sql`close moved`.execute(reading)
  })
  return copied
}

/** Drops the foreign keys; returns the statements that make them again, which check all rows. */
async function takeForeignKeys(target: Transaction<Catalog>): Promise<string[]> {
  const { rows } = await sql<{ remove: string; make: string }>`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as remove,
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as make
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`.execute(target)
  for (const { remove } of rows) await sql.raw(remove).execute(target)
  return rows.map(({ make }) => make)
}

/** A sequence goes on from the number that it has reached. */
async function copySequences(source: CatalogDatabase, target: Transaction<Catalog>): Promise<void> {
  const { rows } = await sql<{ name: string; last: string }>`
    select sequencename as name, last_value::text as last from pg_sequences
    where schemaname = current_schema() and last_value is not null`.execute(source)
  for (const { name, last } of rows) {
    await sql`select setval(quote_ident(${name})::regclass, ${last}::bigint)`.execute(target)
  }
}
