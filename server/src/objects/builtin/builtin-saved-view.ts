/** Contents of a saved view: weave 0.54.0 `builtin_object_classes/saved_view.py`. */
import {
  boolean,
  type BuiltinClass,
  either,
  type FieldType,
  instanceOf,
  integer,
  listOf,
  mapOf,
  oneOf,
  optional,
  required,
  text,
} from "./builtin-fields.ts"
import { callsFilter, query, sortBy } from "./builtin-query.ts"

function model(name: string, fields: BuiltinClass["fields"]): BuiltinClass {
  return { name, bases: ["BaseModel"], fields }
}

function listOfClass(builtin: BuiltinClass): FieldType {
  return listOf(instanceOf(() => builtin))
}

const strings = listOf(text)

const pin = model("Pin", { left: required(strings), right: required(strings) })

const column = model("Column", { path: optional(listOf(either(integer, text))), label: optional(text) })

const chart = model("ChartConfig", {
  x_axis: required(text),
  y_axis: required(text),
  plot_type: optional(oneOf("scatter", "line", "bar")),
  bin_count: optional(integer),
  aggregation: optional(oneOf("average", "sum", "min", "max", "p95", "p99")),
  group_keys: optional(strings),
  custom_name: optional(text),
})

const versionGroup = model("ObjectVersionGroup", {
  label: required(text),
  base_ref: required(text),
  versions: required(either(strings, oneOf("*"))),
  show_version_indicator: required(boolean),
})

const objectConfig = model("ObjectConfig", {
  version_groups: optional(listOfClass(versionGroup)),
  display_name_map: optional(mapOf(text)),
  deselected: optional(strings),
})

const leaderboardColumn = model("DynamicLeaderboardColumnConfig", {
  evaluation_object_ref: optional(text),
  scorer_name: optional(text),
  display_name: optional(text),
  summary_metric_path: optional(text),
  should_minimize: optional(boolean),
  deselected: optional(boolean),
})

const leaderboard = model("DynamicLeaderboardConfig", {
  model_configuration: optional(instanceOf(() => objectConfig)),
  dataset_configuration: optional(instanceOf(() => objectConfig)),
  scorer_configuration: optional(instanceOf(() => objectConfig)),
  columns_configuration: optional(listOfClass(leaderboardColumn)),
})

export const savedViewDefinition = model("SavedViewDefinition", {
  filter: optional(instanceOf(() => callsFilter)),
  query: optional(instanceOf(() => query)),
  cols: optional(mapOf(boolean)),
  columns: optional(listOfClass(column)),
  column_order: optional(strings),
  expand_columns: optional(strings),
  header_depth: optional(integer),
  pin: optional(instanceOf(() => pin)),
  sort_by: optional(listOfClass(sortBy)),
  page: optional(integer),
  page_size: optional(integer),
  charts: optional(listOfClass(chart)),
  dataset_selector: optional(text),
  evaluation_selector: optional(text),
  dynamic_leaderboard_config: optional(instanceOf(() => leaderboard)),
})
