/** Reads all rows of a team in the stores, to find out whether anything was changed. */
import { sql } from "kysely"
import { callPlacesTable, callsTable } from "../../../src/storage/traces/calls/calls-tables.ts"
import type { EvaluationApp } from "../evaluation-app.ts"
import type { Handles } from "./team-world.ts"

/** The team's rows as text, by table, and those of `blobs` that exist. */
export async function stateOf(
  { app }: EvaluationApp,
  handles: Handles,
  blobs: readonly string[],
): Promise<Record<string, string>> {
  const { catalog, traces } = app.stores
  const state: Record<string, string> = {}
  const { entity, userId, modelId, queueId, itemId } = handles
  const projects = await sql<{ id: string; entity_id: string }>`
    select p.id, p.entity_id from projects p join entities e on e.id = p.entity_id where e.name = ${entity}`.execute(
    catalog,
  )
  const projectIds = projects.rows.map(({ id }) => id)
  const owners = [projects.rows[0]?.entity_id ?? "", userId, modelId, queueId, itemId, ...projectIds]
  const columns = await sql<{ table_name: string; names: string[] }>`
    select table_name, array_agg(column_name::text) as names from information_schema.columns
    where table_schema = 'public' and data_type = 'uuid'
      and column_name in ('id', 'entity_id', 'user_id', 'project_id', 'model_id', 'queue_id', 'item_id', 'default_entity_id')
    group by table_name order by table_name`.execute(catalog)
  for (const { table_name, names } of columns.rows) {
    const owned = sql.join(
      names.map((name) => sql`${sql.ref(name)} = any(${owners}::uuid[])`),
      sql` or `,
    )
    const { rows } = await sql<{ row: string }>`
      select (to_jsonb(t) - 'last_used_at' - 'measured_at')::text as row from ${sql.table(table_name)} t where ${owned}
      order by 1`.execute(catalog)
    state[`catalog ${table_name}`] = rows.map(({ row }) => row).join("\n")
  }
  for (const table of [
    callsTable,
    "feedback",
    "agent_spans",
    "table_rows",
    "tables",
    "token_prices",
    callPlacesTable,
    "run_history",
    "run_lines",
    "training_rows",
  ]) {
    const rows = await traces.rows(`select * from ${table} final where project_id in {ids:Array(UUID)}`, {
      ids: projectIds,
    })
    state[`traces ${table}`] = rows
      .map((row) => JSON.stringify(row))
      .toSorted()
      .join("\n")
  }
  const files = new Set(await allBlobs({ app }))
  state["blobs"] = blobs.filter((blob) => files.has(blob)).join("\n")
  return state
}

export async function allBlobs({ app }: Pick<EvaluationApp, "app">): Promise<string[]> {
  const blobs: string[] = []
  for await (const some of app.stores.blobs.list()) blobs.push(...some)
  return blobs.toSorted()
}
