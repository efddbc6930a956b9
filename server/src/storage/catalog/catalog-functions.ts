/**
 * Functions in the catalog. A start replaces them when they changed, whatever was there before; tables belong to the
 * migrations.
 *
 * A function that takes other parameters than before, or returns something else, needs a new name: a server of the version
 * before may still call the old one, and PostgreSQL replaces a function only by one with the same parameters.
 */
import { createHash } from "node:crypto"
import { type Kysely, sql } from "kysely"
import { annotationFunctions } from "./labelling/annotation-functions.ts"
import type { Catalog } from "./schema.ts"

/** The function that is put there last: its comment says which version of all of them is there. */
const marked = "annotation_event(uuid, uuid, uuid, text, text, jsonb)"
const version = createHash("sha256").update(annotationFunctions.join("\n")).digest("hex")

/** Call it when the tables are up to date. */
export async function updateFunctions(database: Kysely<Catalog>): Promise<void> {
  if ((await versionThere(database)) === version) return
  await database.transaction().execute(async (transaction) => {
    // Servers that start together would replace the same row of PostgreSQL's own tables.
    await sql`select pg_advisory_xact_lock(hashtext('heddle functions'))`.execute(transaction)
    if ((await versionThere(transaction)) === version) return
    for (const statement of annotationFunctions) await sql.raw(statement).execute(transaction)
    await sql.raw(`comment on function ${marked} is '${version}'`).execute(transaction)
  })
}

/** null: none that was put there from here. */
async function versionThere(database: Kysely<Catalog>): Promise<string | null> {
  const { rows } = await sql<{ version: string | null }>`
    select obj_description(to_regprocedure(${marked}), 'pg_proc') as version`.execute(database)
  return rows[0]?.version ?? null
}
