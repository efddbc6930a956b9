/** Curves of what a run logged: however long it is, a point of each keeps its lowest and highest value. */
import { SqlParameters } from "../query/sql-parameters.ts"
import type { CurvePoint } from "../../../wire/training/model-metrics.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { pathsOf, readableRow } from "./row-json.ts"
import { historyEnd, historyKeys, writer } from "./run-history.ts"
import { ofRun, type RunKey } from "./run-tables.ts"

/** `history`: what the program logged. `system`: what the client measured of the machine beside it. */
export type CurveSource = "history" | "system"

interface CurveSelection {
  source: CurveSource
  metrics: readonly string[]
  /** At most so many of each metric. */
  points: number
}

/** What each row has besides what was logged in it. */
export const ownColumns: ReadonlySet<string> = new Set(["_step", "_runtime", "_timestamp"])

export interface LoggedNames {
  /** What was a number once, sorted. */
  metrics: string[]
  /** What was an object with a `_type` once, sorted, with the newest of its types. */
  media: { name: string; type: string }[]
}

/** Types of columns that are no `_type` of media. */
const plainTypes: ReadonlySet<string> = new Set(["number", "string", "boolean", "list", "map", "nil"])

export async function loggedNames(traces: TraceStore, run: RunKey, source: CurveSource): Promise<LoggedNames> {
  if (source === "system") return { metrics: await systemNames(traces, run), media: [] }
  const keys = await historyKeys(traces, run)
  const numbers = keys.filter(({ key, type }) => type === "number" && !ownColumns.has(key))
  const media = keys.filter(({ type }) => !plainTypes.has(type)).toSorted((a, b) => a.lastStep - b.lastStep)
  const typeOf = new Map(media.map(({ key, type }) => [key, type]))
  return {
    metrics: numbers.map(({ key }) => key).toSorted(),
    media: [...typeOf.keys()].toSorted().map((name) => ({ name, type: typeOf.get(name) ?? "" })),
  }
}

async function systemNames(traces: TraceStore, run: RunKey): Promise<string[]> {
  const rows = await traces.rows<{ name: string }>(
    `select distinct name from (select ${readableRow} as json from run_lines where ${ofRun} and file = 'events')
      array join JSONExtractKeys(json) as name
      where startsWith(name, 'system.') and JSONType(json, name) in ('Double', 'Int64', 'UInt64') order by name`,
    { ...run },
  )
  return rows.map(({ name }) => name)
}

/** By metric and step; the step of system rows is their number, in the order of time. */
export async function runPoints(traces: TraceStore, run: RunKey, selection: CurveSelection): Promise<CurvePoint[]> {
  if (selection.metrics.length === 0) return []
  const parameters = new SqlParameters()
  const values =
    selection.source === "history" ? historyValues(selection.metrics, parameters) : systemValues(selection, parameters)
  const { firstStep, lastStep } =
    selection.source === "history" ? await historyEnd(traces, run) : await systemEnd(traces, run)
  const stepsPerPoint = Math.max(1, Math.ceil((lastStep - firstStep + 1) / selection.points))
  const first = parameters.bind(firstStep, "Int64")
  const rows = await traces.rows<
    Record<"metric" | "step" | "at", string> & Record<"min" | "max" | "mean" | "last", number>
  >(
    `select metric, max(step) as step, argMax(at, values.step) as at, min(value) as min, max(value) as max,
      avg(value) as mean, argMax(value, values.step) as last
    from (${values}) as values where isFinite(value)
    group by metric, intDiv(values.step - ${first}, ${parameters.bind(stepsPerPoint, "Int64")}) order by metric, step`,
    { ...run, ...parameters.values },
  )
  return rows.map((row) => ({ ...row, step: Number(row.step), at: new Date(Number(row.at)) }))
}

/**
 * What the program logged, by metric and by the numbers of another column of the same rows, ascending. Rows of which the
 * column has no number are left out.
 */
export async function runPointsOver(
  traces: TraceStore,
  run: RunKey,
  { x, metrics, points }: Omit<CurveSelection, "source"> & { x: string },
): Promise<CurvePoint[]> {
  if (metrics.length === 0) return []
  const parameters = new SqlParameters()
  const values = historyValues([...new Set([...metrics, x])], parameters)
  const column = parameters.bind(x, "String")
  const parts = parameters.bind(points, "Float64")
  const rows = await traces.rows<
    Record<"metric" | "step" | "at", string> & Record<"x" | "min" | "max" | "mean" | "last", number>
  >(
    `select metric, max(place) as x, argMax(placed.step, (place, placed.step)) as step,
      argMax(placed.at, (place, placed.step)) as at, min(value) as min, max(value) as max, avg(value) as mean,
      argMax(value, (place, placed.step)) as last
    from (
      select metric, step, at, value, place, min(place) over () as first, max(place) over () - first as width,
        if(width > 0, least(${parts} - 1, floor((place - first) / width * ${parts})), 0) as part
      from (
        select metric, step, at, value, anyIf(value, metric = ${column}) over (partition by step, writer) as place,
          countIf(metric = ${column}) over (partition by step, writer) as places
        from (${values})
      ) where places > 0 and isFinite(place) and isFinite(value)
        and metric in (${metrics.map((metric) => parameters.bind(metric, "String")).join(", ")})
    ) as placed group by metric, part order by metric, x`,
    { ...run, ...parameters.values },
  )
  return rows.map((row) => ({ ...row, step: Number(row.step), at: new Date(Number(row.at)) }))
}

/** When a row was logged, in milliseconds; of one that does not say it, when it came. */
const loggedAt = `if(JSONExtractFloat(json, '_timestamp') between 1 and 253402300799,
  toInt64(JSONExtractFloat(json, '_timestamp') * 1000), toUnixTimestamp64Milli(version))`

function historyValues(metrics: readonly string[], parameters: SqlParameters): string {
  const names = metrics.map((metric) => ({ metric, name: parameters.bind(metric, "String") }))
  const values = names.map(({ metric, name }) => {
    const found = pathsOf(metric).map((path) => numberAt(path, parameters))
    return `(${name}, if(types[indexOf(keys, ${name})] = 'number', coalesce(${found.join(", ")}), null))`
  })
  // Of a step that came twice the later value counts, key by key, as where the history is read.
  return `select metric, step, writer, argMax(number, (version, line)) as value, max(at) as at from (
    select step, ${writer} as writer, version, line, ${readableRow} as json, ${loggedAt} as at,
      arrayJoin([${values.join(", ")}]) as pair, pair.1 as metric, pair.2 as number
    from run_history final where ${ofRun} and hasAny(keys, [${names.map(({ name }) => name).join(", ")}])
  ) where number is not null group by metric, step, writer`
}

function systemValues({ metrics }: CurveSelection, parameters: SqlParameters): string {
  const values = metrics.map((metric) => `(${parameters.bind(metric, "String")}, ${numberAt([metric], parameters)})`)
  return `select pair.1 as metric, step, assumeNotNull(pair.2) as value, at from (
    select row_number() over (order by at, segment, line) - 1 as step, at, arrayJoin([${values.join(", ")}]) as pair
    from (select segment, line, ${readableRow} as json, ${loggedAt} as at from run_lines final
      where ${ofRun} and file = 'events')
  ) where pair.2 is not null`
}

async function systemEnd(traces: TraceStore, run: RunKey) {
  const [row] = await traces.rows<{ count: string }>(
    `select count() as count from run_lines final where ${ofRun} and file = 'events'`,
    { ...run },
  )
  return { firstStep: 0, lastStep: Number(row?.count ?? 0) - 1 }
}

function numberAt(path: readonly string[], parameters: SqlParameters): string {
  return `JSONExtract(json, ${path.map((part) => parameters.bind(part, "String")).join(", ")}, 'Nullable(Float64)')`
}
