/** `/agents/spans/query`: evaluation-store-calls 10. */
import type { Principal } from "../../http/principal.ts"
import { countSpans, listSpans } from "../../storage/traces/agents/span-list.ts"
import type { SpanQuery } from "../../storage/traces/agents/span-selection.ts"
import { needsCosts } from "../../storage/traces/agents/span-values.ts"
import type { SpansPage, SpansQueryBody } from "../../wire/agents/span-query.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { spanQuery, reading, spanPrices, windowOf } from "../agent-scope.ts"
import { queryGroups } from "./span-groups.ts"
import { agentSpan } from "./span-rows.ts"
import { checkSpansQuery } from "./span-rules.ts"

export async function querySpans(
  dependencies: CallDependencies,
  principal: Principal,
  body: SpansQueryBody,
): Promise<SpansPage> {
  checkSpansQuery(body)
  const window = windowOf(body)
  return reading(dependencies, principal, body.project_id, async (project) => {
    const grouped = body.group_by.length > 0
    const costs = body.include_costs === true || (grouped && measuresCosts(body))
    const prices = costs ? await spanPrices(dependencies, project) : null
    const query = spanQuery(project, body, window, prices)
    if (grouped) return queryGroups(dependencies.traces, query, body)
    return queryRows(dependencies, { ...query, text: body.q || null }, body)
  })
}

function measuresCosts({ measures, group_filters }: SpansQueryBody): boolean {
  return [...measures, ...group_filters.map(({ measure }) => measure)].some(({ value }) => needsCosts(value))
}

async function queryRows({ traces }: CallDependencies, query: SpanQuery, body: SpansQueryBody): Promise<SpansPage> {
  const page = {
    details: body.include_details === true,
    attributes: body.custom_attr_columns,
    sortBy: body.sort_by ?? null,
    limit: body.limit,
    offset: body.offset,
  }
  const [rows, total] = await Promise.all([
    listSpans(traces, query, page),
    countSpans(traces, { ...query, prices: null }),
  ])
  return { spans: rows.map((row) => agentSpan(row, body.project_id)), groups: [], total_count: total }
}
