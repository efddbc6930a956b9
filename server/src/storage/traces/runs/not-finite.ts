/** What runs logged that no curve can show: NaN and the infinities. */
import type { NotFinite } from "../../../wire/platform/run.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { notFinite, pathsOf, wordedRow } from "./row-json.ts"
import { writer } from "./run-history.ts"
import { ofRun, type RunKey } from "./run-tables.ts"

/** So many steps are named of each metric, the first ones. */
const mostSteps = 20

type Value = NotFinite["last"]["value"]

/** Of those metrics that have such a value at a step, sorted. Of a step that came twice the later value counts. */
export async function notFiniteValues(
  traces: TraceStore,
  run: RunKey,
  metrics: readonly string[],
): Promise<NotFinite[]> {
  if (metrics.length === 0) return []
  const parameters = new SqlParameters()
  const pairs = metrics.map((metric) => {
    const name = parameters.bind(metric, "String")
    const raw = pathsOf(metric).map((path) => {
      const parts = path.map((part) => parameters.bind(part, "String"))
      return `nullIf(JSONExtractRaw(json, ${parts.join(", ")}), '')`
    })
    return `(${name}, if(types[indexOf(keys, ${name})] = 'number', coalesce(${raw.join(", ")}, '0'), ''))`
  })
  const words = Object.keys(notFinite).map((word) => parameters.bind(word, "String"))
  const values = Object.values(notFinite).map((value) => parameters.bind(value, "String"))
  const names = metrics.map((metric) => parameters.bind(metric, "String"))
  // Rows without such a value, which nearly all are, are not read as JSON: any number will do for theirs.
  const rows = await traces.rows<{ metric: string; count: string; first: [string, Value][]; last: [string, Value] }>(
    `select metric, count() as count, groupArraySorted(${mostSteps})((step, value)) as first, max((step, value)) as last
    from (
      select metric, step, writer,
        transform(argMax(raw, (version, line)), [${words.join(", ")}], [${values.join(", ")}], '') as value
      from (
        select step, ${writer} as writer, version, line, if(match(text, '(NaN|Infinity)'), ${wordedRow}, '{}') as json,
          arrayJoin([${pairs.join(", ")}]) as pair, pair.1 as metric, pair.2 as raw
        from run_history final where ${ofRun} and hasAny(keys, [${names.join(", ")}])
      ) where raw != '' group by metric, step, writer
    ) where value != '' group by metric order by metric`,
    { ...run, ...parameters.values },
  )
  return rows.map(({ metric, count, first, last }) => ({
    metric,
    count: Number(count),
    step: first.map(([step]) => Number(step)),
    value: first.map(([, value]) => value),
    last: { step: Number(last[0]), value: last[1] },
  }))
}
