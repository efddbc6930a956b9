/** Spans in groups: evaluation-store-calls 10. */
import { conversationEnds } from "../../storage/traces/agents/agent-conversations.ts"
import { groupColumn } from "../../storage/traces/agents/span-values.ts"
import { groupValues } from "../../storage/traces/agents/span-distributions.ts"
import { countGroups, listGroups, type StoredGroup } from "../../storage/traces/agents/span-group-list.ts"
import { formatTime } from "../../storage/traces/agents/span-measures.ts"
import type { SpanQuery } from "../../storage/traces/agents/span-selection.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import type {
  DistributionQuery,
  Distribution,
  SpanGroup,
  SpansPage,
  SpansQueryBody,
} from "../../wire/agents/span-query.ts"
import type { Cell, GroupRef } from "../../wire/agents/span-values.ts"
import { previewOf } from "../conversations/message-texts.ts"
import { groupAlias } from "./span-rules.ts"

export async function queryGroups(traces: TraceStore, query: SpanQuery, body: SpansQueryBody): Promise<SpansPage> {
  const page = {
    groupBy: body.group_by,
    measures: body.measures,
    filters: body.group_filters,
    text: body.q || null,
    sortBy: body.sort_by ?? null,
    limit: body.limit,
    offset: body.offset,
  }
  const stored = await listGroups(traces, query, page)
  // A page that is not full tells how many there are; to count them reads all spans once more.
  const isLast = stored.length < page.limit && (stored.length > 0 || page.offset === 0)
  const total = isLast ? page.offset + stored.length : await countGroups(traces, query, page)
  const groups = stored.map((group) => ({ ...toGroup(group, body.include_costs === true), key: firstKey(group, body) }))
  await addPreviews(traces, query, body, groups)
  for (const distribution of body.group_distributions) {
    await addDistribution(traces, query, body.group_by[0] as GroupRef, groups, distribution)
  }
  return { spans: [], groups: groups.map(({ key: _key, ...group }) => group), total_count: total }
}

/** A group with its value of the first `group_by`, by which previews and distributions find it. */
type KeyedGroup = SpanGroup & { key: Cell }

function firstKey({ keys }: StoredGroup, { group_by }: SpansQueryBody): Cell {
  const [first] = group_by
  return first === undefined ? null : (keys[groupAlias(first)] ?? null)
}

function toGroup({ keys, metrics, values }: StoredGroup, showsCosts: boolean): SpanGroup {
  const count = (name: string) => Number(values[name])
  const names = (name: string) => values[name] as string[]
  const cost = (name: string) => (showsCosts ? ((values[name] as number | null | undefined) ?? null) : null)
  return {
    group_keys: keys,
    span_count: count("span_count"),
    invocation_count: count("invocation_count"),
    conversation_count: count("conversation_count"),
    total_input_tokens: count("total_input_tokens"),
    total_cache_creation_input_tokens: count("total_cache_creation_input_tokens"),
    total_cache_read_input_tokens: count("total_cache_read_input_tokens"),
    total_output_tokens: count("total_output_tokens"),
    total_reasoning_tokens: count("total_reasoning_tokens"),
    total_duration_ms: count("total_duration_ms"),
    error_count: count("error_count"),
    agent_names: names("agent_names"),
    agent_versions: names("agent_versions"),
    provider_names: names("provider_names"),
    request_models: names("request_models"),
    conversation_names: names("conversation_names"),
    first_seen: formatTime(String(values["first_seen"])),
    last_seen: formatTime(String(values["last_seen"])),
    total_cost_usd: cost("total_cost_usd"),
    total_input_cost_usd: cost("total_input_cost_usd"),
    total_output_cost_usd: cost("total_output_cost_usd"),
    first_message: null,
    last_message: null,
    metrics,
    distributions: {},
  }
}

/** Adds the first and the last text of each conversation. */
async function addPreviews(
  traces: TraceStore,
  query: SpanQuery,
  { group_by }: SpansQueryBody,
  groups: readonly KeyedGroup[],
): Promise<void> {
  const [only, ...more] = group_by
  if (only === undefined || more.length > 0 || groups.length === 0) return
  if (!(only.source === "field" || only.source === "column") || groupColumn(only.key) !== "conversation_id") return
  const ids = groups.flatMap(({ key }) => (typeof key === "string" ? [key] : []))
  const ends = await conversationEnds(traces, query.projectId, ids, query)
  const byId = new Map(ends.map((one) => [one.conversation_id, one]))
  for (const group of groups) {
    const found = byId.get(String(group.key))
    group.first_message = previewOf("user_message", found?.first ?? [])
    group.last_message = previewOf("assistant_message", found?.last ?? [])
  }
}

export const attributeTypes = {
  custom_attrs_string: "string",
  custom_attrs_int: "int",
  custom_attrs_float: "float",
  custom_attrs_bool: "bool",
} as const

async function addDistribution(
  traces: TraceStore,
  query: SpanQuery,
  groupBy: GroupRef,
  groups: readonly KeyedGroup[],
  spec: DistributionQuery,
): Promise<void> {
  const keys = groups.map(({ key }) => key)
  const found = await groupValues(traces, query, groupBy, keys, spec)
  for (const group of groups) {
    const values = found.get(group.key) ?? { present: 0, bins: [], values: [] }
    const listed = values.values.reduce((sum, { count }) => sum + count, 0)
    const { source, key } = spec.value
    const distribution: Distribution = {
      alias: spec.alias,
      source,
      key,
      value_type: attributeTypes[source],
      total_count: group.span_count,
      present_count: values.present,
      missing_count: group.span_count - values.present,
      other_count: values.values.length > 0 ? values.present - listed : 0,
      bins: values.bins,
      values: values.values,
    }
    group.distributions = Object.fromEntries([...Object.entries(group.distributions), [spec.alias, distribution]])
  }
}
