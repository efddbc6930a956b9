/** Filters and orders of the wandb client's public API over runs: platform-wandb 10. */
import { type RawBuilder, sql } from "kysely"
import { type Condition, type FilterField, filterCondition, refusal, textField, timeField } from "../list-filter.ts"
import { isStorable } from "../storable-text.ts"
import { reportedStateSql } from "./runs.ts"

/**
 * What conditions and orders read of a run's JSON. PostgreSQL unpacks a large value anew wherever a condition names it; here it
 * does so once for each run, which `offset` keeps apart from the conditions.
 */
export const documentsOfRun = sql<{ config: unknown; summary: unknown }>`(
  select runs.config_values || '{}' as config, runs.summary_values || '{}' as summary offset 0
)`.as<"documents">(sql`documents`)

const fields: Readonly<Record<string, FilterField>> = {
  state: textField(reportedStateSql),
  name: textField(sql`runs.name`),
  display_name: textField(sql`runs.display_name`),
  displayName: textField(sql`runs.display_name`),
  group: textField(sql`runs.group_name`),
  jobType: textField(sql`runs.job_type`),
  job_type: textField(sql`runs.job_type`),
  username: textField(sql`users.username`),
  host: textField(sql`runs.host`),
  // Seconds, those of all sessions of a run that was resumed, as the client counts them; it tells them at its end, and in between.
  duration: {
    kind: "json",
    value: sql`coalesce(
      documents.summary #> '{_wandb,runtime}', to_jsonb(extract(epoch from runs.heartbeat_at - runs.created_at))
    )`,
  },
  // There are no sweeps, so no run is of one.
  sweep: textField(sql`null::text`),
  // A model's run has its name.
  model: textField(sql`(
    select models.name from models
    where models.project_id = runs.project_id and models.name = runs.name and models.deleted_at is null
  )`),
  tags: { kind: "tags", value: sql`runs.tags` },
  created_at: timeField(sql`runs.created_at`),
  createdAt: timeField(sql`runs.created_at`),
  heartbeat_at: timeField(sql`runs.heartbeat_at`),
  heartbeatAt: timeField(sql`runs.heartbeat_at`),
}

/** @throws {HeddleError} `bad_query` for what is no filter of runs. */
export const runCondition = (filter: unknown): Condition => filterCondition(filter, fieldOf)

/** @throws {HeddleError} `bad_query`. */
function fieldOf(name: string): FilterField {
  const own = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (own !== undefined) return own
  const [column, ...path] = name.split(".")
  if (path.length > 0 && path.every((part) => part !== "" && isStorable(part))) {
    if (column === "config") return { kind: "json", value: configValue(path) }
    if (column === "summary_metrics" || column === "summaryMetrics") {
      return { kind: "json", value: valueAt(sql`documents.summary`, path) }
    }
  }
  throw refusal(
    `runs have no field "${name}": state, name, display_name, tags, group, job_type, model, username, host, duration, created_at, heartbeat_at, config.<key>, summary_metrics.<key>`,
  )
}

/** The client stores `{key: {value}}`, and people write `config.key` as well as `config.key.value`. A key may have dots itself. */
function configValue(path: readonly string[]): RawBuilder<unknown> {
  const [key = "", ...inner] = path
  const rest = inner[0] === "value" ? inner.slice(1) : inner
  const nested = sql`documents.config #> ${[key, "value", ...rest]}::text[]`
  if (rest.length === 0) return nested
  const dotted = (inner.at(-1) === "value" ? path.slice(0, -1) : path).join(".")
  return sql`coalesce(${nested}, documents.config #> ${[dotted, "value"]}::text[])`
}

/** A key may have dots itself: the whole path as one key comes first. */
function valueAt(column: RawBuilder<unknown>, path: readonly string[]): RawBuilder<unknown> {
  return path.length === 1
    ? sql`${column} #> ${[...path]}::text[]`
    : sql`coalesce(${column} #> ${[path.join(".")]}::text[], ${column} #> ${[...path]}::text[])`
}

export interface RunOrder {
  value: RawBuilder<unknown>
  isDescending: boolean
}

/** `+created_at`, `-summary_metrics.loss`. @throws {HeddleError} `bad_query`. */
export function runOrder(order: string): RunOrder {
  const isDescending = order.startsWith("-")
  const name = order.replace(/^[+-]/, "")
  const { kind, value } = fieldOf(name)
  if (kind === "tags") throw refusal("runs cannot be ordered by tags")
  // A NaN is kept as null, which is less than all else in jsonb: a run that diverged would be the one with the least loss.
  return { value: kind === "json" ? sql`nullif(${value}, 'null'::jsonb)` : value, isDescending }
}
