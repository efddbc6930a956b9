/**
 * A project's own token prices: evaluation-store-objects 8. They lie beside the calls, since the query
 * language that finds them is compiled to this store's SQL. Rows replace and delete each other as in
 * the table of feedback.
 */
import { HeddleError } from "../../errors.ts"
import type { Operand, SortBy } from "../../wire/queries/query.ts"
import { insertCounted } from "./counted-lines.ts"
import { compileCondition } from "./query/query-condition.ts"
import { namedAtOnce } from "./query/named-at-once.ts"
import { compileOrder } from "./query/query-order.ts"
import { SqlParameters } from "./query/sql-parameters.ts"
import { isoTimeSql } from "./query/sql-time.ts"
import { numberValue, type SqlValue, textValue, timeValue } from "./query/sql-value.ts"
import { storedJson } from "./stored-json.ts"
import { storedTime } from "./stored-time.ts"
import type { TraceStore } from "./store/trace-store.ts"

export const tokenPriceTables = [
  `create table if not exists token_prices (
    project_id UUID,
    id String,
    llm_id String,
    provider_id String,
    effective_date DateTime64(6, 'UTC'),
    prompt_token_cost Float64,
    completion_token_cost Float64,
    cache_read_input_token_cost Float64,
    cache_creation_input_token_cost Float64,
    prompt_token_cost_unit String,
    completion_token_cost_unit String,
    created_by String,
    created_at DateTime64(6, 'UTC'),
    version DateTime64(9, 'UTC') default now64(9),
    is_deleted UInt8 default 0
  ) engine = ReplacingMergeTree(version, is_deleted) order by (project_id, id)`,
]

/** Prices of one token of a model. Times are ISO 8601, UTC, to the microsecond. */
export interface TokenPriceRow {
  id: string
  llm_id: string
  provider_id: string
  effective_date: string
  prompt_token_cost: number
  completion_token_cost: number
  cache_read_input_token_cost: number
  cache_creation_input_token_cost: number
  prompt_token_cost_unit: string
  completion_token_cost_unit: string
  created_by: string
  created_at: string
}

export async function insertTokenPrices(
  traces: TraceStore,
  projectId: string,
  rows: readonly TokenPriceRow[],
): Promise<void> {
  const lines = rows.map((row) =>
    storedJson({
      project_id: projectId,
      ...row,
      effective_date: storedTime(row.effective_date),
      created_at: storedTime(row.created_at),
    }),
  )
  const bytes = Buffer.from(lines.join("\n"))
  await insertCounted(traces, "token_prices", { lines: bytes, bytesOf: new Map([[projectId, bytes.length]]) })
}

/** Ids that are not there are no error. Returns whether there were others. */
export async function deleteTokenPrices(
  traces: TraceStore,
  projectId: string,
  ids: readonly string[],
): Promise<boolean> {
  const lines: string[] = []
  for (const named of namedAtOnce(ids)) {
    const found = await traces.rows<{ id: string }>(
      "select id from token_prices final where project_id = {projectId:UUID} and id in {named:Array(String)}",
      { projectId, named },
    )
    for (const { id } of found) lines.push(storedJson({ project_id: projectId, id, is_deleted: 1 }))
  }
  if (lines.length > 0) await traces.insert("token_prices", lines.join("\n"))
  return lines.length > 0
}

/** Every price that the project has for these models. */
export async function findTokenPrices(
  traces: TraceStore,
  projectId: string,
  models: readonly string[],
): Promise<TokenPriceRow[]> {
  const columns = Object.entries(fields).map(([name, kind]) => `${selection(name, kind)} as ${name}_`)
  const rows = await traces.rows<Record<string, unknown>>(
    `select ${columns.join(", ")} from token_prices final
      where project_id = {projectId:UUID} and llm_id in {models:Array(String)}`,
    { projectId, models },
  )
  return rows.map((row) => fromRow(row, Object.keys(fields)) as TokenPriceRow)
}

export interface TokenPricePage {
  /** Each once. */
  fields: readonly string[]
  where: Operand | null
  /** null: in the order in which they were made, those of one request by model. */
  sortBy: readonly SortBy[] | null
  limit: number | null
  offset: number
}

const asMade: SortBy[] = [
  { field: "created_at", direction: "asc" },
  { field: "llm_id", direction: "asc" },
]

/** @throws {HeddleError} for fields and expressions that mean nothing. */
export async function selectTokenPrices(
  traces: TraceStore,
  projectId: string,
  page: TokenPricePage,
): Promise<Partial<TokenPriceRow>[]> {
  const parameters = new SqlParameters()
  const columns = page.fields.map((name) => `${selection(name, kindOf(name))} as ${name}_`)
  const conditions = [`project_id = ${parameters.bind(projectId, "UUID")}`]
  if (page.where !== null) conditions.push(compileCondition(page.where, { field: priceValue, parameters }))
  const order = [...compileOrder(page.sortBy ?? asMade, priceValue), "id asc"]
  const limit = parameters.bind(page.limit ?? Number.MAX_SAFE_INTEGER, "UInt64")
  const rows = await traces.rows<Record<string, unknown>>(
    `select ${columns.join(", ")} from token_prices final where ${conditions.join(" and ")}
      order by ${order.join(", ")} limit ${limit} offset ${parameters.bind(page.offset, "UInt64")}`,
    parameters.values,
  )
  return rows.map((row) => fromRow(row, page.fields))
}

type FieldKind = "text" | "number" | "time"

const fields = {
  id: "text",
  llm_id: "text",
  prompt_token_cost: "number",
  completion_token_cost: "number",
  cache_read_input_token_cost: "number",
  cache_creation_input_token_cost: "number",
  prompt_token_cost_unit: "text",
  completion_token_cost_unit: "text",
  effective_date: "time",
  provider_id: "text",
  created_by: "text",
  created_at: "time",
} as const satisfies Record<keyof TokenPriceRow, FieldKind>

function kindOf(name: string): FieldKind {
  if (Object.hasOwn(fields, name)) return fields[name as keyof typeof fields]
  throw new HeddleError("value_error", `Unknown field: ${name}`)
}

function priceValue(name: string): SqlValue {
  const kind = kindOf(name)
  if (kind === "number") return numberValue(name)
  return kind === "time" ? timeValue(name) : textValue(name)
}

function selection(name: string, kind: FieldKind): string {
  return kind === "time" ? isoTimeSql(name) : name
}

/** Columns carry a `_` behind their name, so that an order by a time means the time and not its text. */
function fromRow(row: Record<string, unknown>, names: readonly string[]): Partial<TokenPriceRow> {
  return Object.fromEntries(names.map((name) => [name, row[`${name}_`]]))
}
