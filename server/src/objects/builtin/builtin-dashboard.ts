/** Contents of an agent dashboard: weave 0.54.0 `builtin_object_classes/agent_dashboard.py`. */
import {
  between,
  type BuiltinClass,
  defaulting,
  type Field,
  instanceByTag,
  instanceOf,
  listOf,
  nonEmptyText,
  numberOf,
  oneOf,
  optional,
  refuse,
  required,
  text,
} from "./builtin-fields.ts"

const gridColumns = 24

function config(name: string, fields: Record<string, Field>, ...parents: string[]): BuiltinClass {
  return { name, bases: [...parents, "DashboardConfigModel", "BaseModel"], fields, closed: true }
}

const layout: BuiltinClass = {
  ...config("PanelGridLayout", {
    x: required(between(0, gridColumns - 1)),
    y: required(between(0, Infinity)),
    w: required(between(1, gridColumns)),
    h: required(between(1, Infinity)),
  }),
  check: ({ x, w }, path) => {
    if (numberOf(x) + numberOf(w) > gridColumns) refuse(path, `within ${gridColumns} columns`, { x, w })
  },
}

const queryFields = {
  version: defaulting(between(1, 1), 1),
  metric: required(nonEmptyText),
  filter: defaulting(text, ""),
  format: optional(oneOf("number", "percent", "cost", "duration")),
}

const kpiQuery = config("KpiPanelQueryConfig", queryFields, "PanelQueryConfig")

const timelineQuery = config(
  "TimelinePanelQueryConfig",
  { ...queryFields, groupBy: optional(text), limit: optional(between(1, 50)) },
  "PanelQueryConfig",
)

const breakdownQuery = config(
  "BreakdownPanelQueryConfig",
  { ...queryFields, groupBy: required(nonEmptyText), limit: defaulting(between(1, 50), 6) },
  "PanelQueryConfig",
)

function panel(kind: "Kpi" | "Timeline" | "Breakdown", query: BuiltinClass): BuiltinClass {
  const settings = config(`${kind}PanelSettings`, { query: required(instanceOf(() => query)), title: optional(text) })
  return config(
    `${kind}DashboardPanel`,
    {
      id: required(nonEmptyText),
      layout: required(instanceOf(() => layout)),
      panel_type: required(oneOf(kind.toLowerCase())),
      settings: required(instanceOf(() => settings)),
    },
    "DashboardPanelBase",
  )
}

const panels = {
  kpi: panel("Kpi", kpiQuery),
  timeline: panel("Timeline", timelineQuery),
  breakdown: panel("Breakdown", breakdownQuery),
}

export const agentDashboardDefinition = config("AgentDashboardDefinition", {
  panels: required(listOf(instanceByTag("panel_type", panels))),
})
