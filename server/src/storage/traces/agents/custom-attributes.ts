/** Which attributes without a column spans have: evaluation-store-calls 10. */
import type { TraceStore } from "../store/trace-store.ts"
import { type AttributeSource, attributeSources } from "./span-columns.ts"
import { type SpanQuery, selectSpans } from "./span-selection.ts"

export interface AttributeCount {
  source: AttributeSource
  key: string
  spans: number
}

/** The most frequent first. Values are not read. */
export async function countAttributes(
  traces: TraceStore,
  query: SpanQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<AttributeCount[]> {
  const { from, parameters } = selectSpans(query, { identity: false })
  const keys = attributeSources.map((source) => `arrayMap(key -> ('${source}', key), mapKeys(${source}))`)
  const range = `limit ${parameters.bind(limit, "UInt64")} offset ${parameters.bind(offset, "UInt64")}`
  const rows = await traces.rows<{ source: AttributeSource; name: string; n: string }>(
    `select found.1 as source, found.2 as name, count() as n
      from (select arrayJoin(arrayConcat(${keys.join(", ")})) as found from ${from})
      group by source, name order by n desc, name, source ${range}`,
    parameters.values,
  )
  return rows.map(({ source, name, n }) => ({ source, key: name, spans: Number(n) }))
}
