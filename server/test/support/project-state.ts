/** Counts the rows of a project in every table, to find tables that a deletion forgets. */
import { sql } from "kysely"
import type { Stores } from "../../src/storage/open-stores.ts"

/** Columns by which a row belongs to a project, or to a thing in it. */
const owners = ["project_id", "model_id", "job_id", "queue_id", "item_id", "run_id", "artifact_id", "collection_id"]

/** The project's id, then the ids of things in it. */
export async function idsOfProject({ catalog }: Pick<Stores, "catalog">, projectId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from models where project_id = ${projectId}
    union select id from training_jobs where model_id in (select id from models where project_id = ${projectId})
    union select id from annotation_queues where project_id = ${projectId}
    union select id from annotation_items where queue_id in (select id from annotation_queues where project_id = ${projectId})
    union select id from runs where project_id = ${projectId}
    union select id from artifact_collections where project_id = ${projectId}
    union select id from artifacts where project_id = ${projectId}`.execute(catalog)
  return [projectId, ...rows.map(({ id }) => id)]
}

/** Number of different rows that name one of these ids, by table; tables without any are left out. */
export async function rowsNaming(
  { catalog, traces }: Pick<Stores, "catalog" | "traces">,
  ids: readonly string[],
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const columns = await sql<{ table_name: string; column_name: string }>`
    select c.table_name, c.column_name from information_schema.columns c
    join information_schema.tables t on t.table_name = c.table_name and t.table_schema = c.table_schema
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type = 'uuid'
      and c.column_name = any(${owners})`.execute(catalog)
  for (const { table_name, column_name } of columns.rows) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table_name)} where ${sql.ref(column_name)} = any(${ids}::uuid[])`.execute(
      catalog,
    )
    const count = Number(rows[0]?.count)
    if (count > 0) counts[`${table_name}.${column_name}`] = count
  }
  const tables = await traces.rows<{ table: string }>(
    "select table from system.columns where database = currentDatabase() and name = 'project_id'",
  )
  for (const { table } of tables) {
    const [row] = await traces.rows<{ count: string }>(
      `select count() as count from (select distinct * from ${table} where project_id in {ids:Array(UUID)})`,
      { ids },
    )
    if (Number(row?.count) > 0) counts[`traces ${table}`] = Number(row?.count)
  }
  return counts
}
