/**
 * Classes whose objects the server completes when `builtin_object_class` names them
 * (evaluation-store-objects 3.1): the registry of weave 0.54.0, `builtin_object_classes/`.
 */
import { HeddleError } from "../../errors.ts"
import { parseExact } from "../../json/exact-json.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import { agentDashboardDefinition } from "./builtin-dashboard.ts"
import {
  boolean,
  type BuiltinClass,
  defaulting,
  dump,
  either,
  type Field,
  float,
  instanceByTag,
  instanceOf,
  integer,
  listOf,
  map,
  mapOf,
  oneOf,
  optional,
  refuse,
  required,
  text,
} from "./builtin-fields.ts"
import { savedViewDefinition } from "./builtin-saved-view.ts"
import { type ObjectClasses } from "../object-classes.ts"

const modelBases = ["BaseModel"]

function baseObject(name: string, fields: Record<string, Field>, more: Partial<BuiltinClass> = {}): BuiltinClass {
  const named = { name: optional(text), description: optional(text) }
  return { name, bases: ["BaseObject", "BaseModel"], fields: { ...named, ...fields }, ...more }
}

const leaderboardColumn: BuiltinClass = {
  name: "LeaderboardColumn",
  bases: modelBases,
  fields: {
    evaluation_object_ref: required(text),
    scorer_name: required(text),
    summary_metric_path: required(text),
    should_minimize: optional(boolean),
  },
}

const thresholdSpec: BuiltinClass = {
  name: "WeaveMetricThresholdSpec",
  bases: modelBases,
  fields: {
    alert_condition: defaulting(text, "THRESHOLD"),
    source_type: defaulting(oneOf("calls", "spans"), "calls"),
    comparison_operator: defaulting(oneOf("GREATER_THAN", "LESS_THAN", "EQUAL"), "GREATER_THAN"),
    metric_path: defaulting(text, ""),
    op_str: defaulting(text, ""),
    threshold: defaulting(float, 0),
    window_size: optional(integer),
    window_duration: optional(integer),
    monitor_ref: optional(text),
    scorer_ref: optional(text),
    aggregation_function: defaulting(oneOf("mean", "median", "min", "max", "mode", "percentage", "count"), "mean"),
    status_match_value: optional(text),
  },
}

const message: BuiltinClass = {
  name: "Message",
  bases: modelBases,
  fields: {
    role: required(text),
    content: optional(either(text, listOf(map))),
    name: optional(text),
    function_call: optional(map),
    tool_call_id: optional(text),
  },
}

const completionParameters: BuiltinClass = {
  name: "LLMStructuredCompletionModelDefaultParams",
  bases: modelBases,
  fields: {
    messages_template: optional(listOf(instanceOf(() => message))),
    prompt: optional(text),
    temperature: optional(float),
    top_p: optional(float),
    max_tokens: optional(integer),
    presence_penalty: optional(float),
    frequency_penalty: optional(float),
    stop: optional(listOf(text)),
    n_times: optional(integer),
    functions: optional(listOf(map)),
    response_format: optional(oneOf("json_object", "json_schema", "text")),
  },
}

/** From weave 0.52.41. Version 0.54.0 no longer has actions, but its server still runs them. */
const judgeAction: BuiltinClass = {
  name: "LlmJudgeActionConfig",
  bases: modelBases,
  fields: {
    action_type: required(oneOf("llm_judge")),
    model: required(text),
    prompt: required(text),
    response_schema: required(map),
  },
}
const wordsAction: BuiltinClass = {
  name: "ContainsWordsActionConfig",
  bases: modelBases,
  fields: { action_type: required(oneOf("contains_words")), target_words: required(listOf(text)) },
}

const comparison: BuiltinClass = {
  name: "ComparisonViewDefinition",
  bases: modelBases,
  fields: {
    evaluation_call_ids: required(listOf(text)),
    selected_metrics: optional(listOf(text)),
    column_visibility: optional(mapOf(boolean)),
  },
}

const testOnlyModel: BuiltinClass = {
  name: "TestOnlyNestedBaseModel",
  bases: modelBases,
  fields: { a: required(integer), aliased_property_alias: required(integer) },
}

const testOnlyNested = baseObject("TestOnlyNestedBaseObject", { b: required(integer) })

const builtins: readonly BuiltinClass[] = [
  baseObject("AnnotationSpec", {
    field_schema: defaulting(map, {}),
    unique_among_creators: defaulting(boolean, false),
    op_scope: optional(listOf(text)),
  }),
  baseObject("ActionSpec", {
    name: required(text),
    config: required(instanceByTag("action_type", { llm_judge: judgeAction, contains_words: wordsAction })),
  }),
  baseObject("Leaderboard", { columns: required(listOf(instanceOf(() => leaderboardColumn))) }),
  baseObject("AlertSpec", {
    op_scope: optional(listOf(text)),
    spec: defaulting(
      instanceOf(() => thresholdSpec),
      {},
    ),
  }),
  baseObject("Provider", {
    base_url: required(providerUrl),
    api_key_name: required(text),
    extra_headers: defaulting(mapOf(text), {}),
    return_type: defaulting(oneOf("openai"), "openai"),
  }),
  baseObject("ProviderModel", { provider: required(text), max_tokens: required(integer) }),
  baseObject(
    "LLMStructuredCompletionModel",
    {
      ref: optional(text),
      llm_model_id: required(text),
      default_params: defaulting(
        instanceOf(() => completionParameters),
        {},
      ),
    },
    { bases: ["Model", "Object", "BaseModel"], closed: true },
  ),
  baseObject("SavedView", {
    view_type: required(text),
    label: required(text),
    definition: required(instanceOf(() => savedViewDefinition)),
  }),
  baseObject("ComparisonView", { label: required(text), definition: required(instanceOf(() => comparison)) }),
  baseObject("AgentDashboard", {
    label: required(text),
    definition: required(instanceOf(() => agentDashboardDefinition)),
  }),
  baseObject("TestOnlyExample", {
    primitive: required(integer),
    nested_base_model: required(instanceOf(() => testOnlyModel)),
    nested_base_object: required(text),
  }),
  testOnlyNested,
  {
    name: "TestOnlyInheritedBaseObject",
    bases: ["TestOnlyNestedBaseObject", "BaseObject", "BaseModel"],
    fields: { ...testOnlyNested.fields, c: required(integer), additional_field: defaulting(text, "default_value") },
  },
]

const registry = new Map(builtins.map((builtin) => [builtin.name, builtin]))

/** Fields that hold a JSON Schema, by class. */
const schemaPlaces: ReadonlyMap<string, readonly string[]> = new Map([
  ["AnnotationSpec", ["field_schema"]],
  ["ActionSpec", ["config", "response_schema"]],
])

export interface BuiltinObject {
  text: string
  value: unknown
  classes: ObjectClasses
  /** The JSON Schema that it holds, which is not checked yet, and where. */
  schema: { text: string; place: string } | null
}

/** @throws {HeddleError} `value_error`: no such class, or a value that is none of it. */
export function builtinObject(className: string, json: string): BuiltinObject {
  const builtin = registry.get(className)
  if (builtin === undefined) {
    const known = [...registry.keys()].filter((name) => !name.startsWith("TestOnly")).join(", ")
    throw new HeddleError("value_error", `Unknown object class: "${className}"; the builtin ones are ${known}`)
  }
  const value = dump(builtin, parseExact(withoutNotFinite(json)), "val")
  const base = builtin.bases.length > 2 ? builtin.bases.at(-3) : undefined
  const classes = { base: base ?? className, leaf: className }
  return { text: JSON.stringify(value), value, classes, schema: schemaIn(value, schemaPlaces.get(className) ?? null) }
}

function schemaIn(value: unknown, place: readonly string[] | null): BuiltinObject["schema"] {
  if (place === null) return null
  const schema = place.reduce<unknown>((inner, name) => (isJsonObject(inner) ? inner[name] : undefined), value)
  return schema === undefined ? null : { text: JSON.stringify(schema), place: ["val", ...place].join(".") }
}

/** Checks only that the value is a URL. Which hosts are allowed is decided when the provider is called. */
function providerUrl(value: unknown, path: string): unknown {
  const url = text(value, path) as string
  const parsed = URL.parse(url)
  if (parsed !== null && /^https?:$/.test(parsed.protocol) && !url.includes("?") && !url.includes("#")) return url
  return refuse(path, "an http or https address without a query", value)
}
