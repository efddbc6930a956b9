/** Config and summary of a run as they are shown: texts of JSON, with every digit as it was written. */
import { elementTexts, memberTexts } from "../../../json/json-text.ts"

/** `layer.2` comes before `layer.10`. */
const byName = new Intl.Collator("en", { numeric: true })

/** By name: the client writes members in any order. */
const sortedMembers = (object: string) => [...memberTexts(object)].toSorted(([a], [b]) => byName.compare(a, b))

/** Python writes NaN and the infinities into JSON, where they are no values: they are shown as texts. */
export function readableJson(text: string): string {
  if (!/NaN|Infinity/.test(text)) return text
  if (text.startsWith("{")) return objectOf([...memberTexts(text)].map(([name, value]) => [name, readableJson(value)]))
  if (text.startsWith("[")) return `[${elementTexts(text).map(readableJson).join(", ")}]`
  return /^-?(?:NaN|Infinity)$/.test(text) ? `"${text}"` : text
}

/** What the program set: each member is wrapped into its `value`, and `_wandb` is the client's own. */
export function configText(config: string): string {
  const members = sortedMembers(config).filter(([name]) => name !== "_wandb")
  return objectOf(members.map(([name, value]) => [name, readableJson(memberTexts(value).get("value") ?? value)]))
}

/** What the client notes there itself. */
export function clientsOwn(config: string): ReadonlyMap<string, string> {
  return memberTexts(memberTexts(memberTexts(config).get("_wandb") ?? "{}").get("value") ?? "{}")
}

/** Without what the client adds to every row. */
export function summaryText(summary: string): string {
  const members = sortedMembers(summary).filter(([name]) => !name.startsWith("_"))
  return objectOf(members.map(([name, value]) => [name, readableJson(value)]))
}

export interface SummaryNumber {
  name: string
  value: number
}

/** Numbers of a summary by their paths. The client writes its members in any order. */
export function summaryNumbers(summary: string): SummaryNumber[] {
  return [...valuesByPath(summary)].flatMap(([name, text]) =>
    !name.startsWith("_") && /^-?\d/.test(text) ? [{ name, value: Number(text) }] : [],
  )
}

/** The newest step; null: there is none. */
export const lastStep = (summary: string) => memberNumber(summary, "_step")

/** null: there is no such member, or it is no number. */
export function memberNumber(object: string, name: string): number | null {
  const text = memberTexts(object).get(name) ?? ""
  return /^\d/.test(text) ? Number(text) : null
}

function objectOf(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(", ")}}`
}

export interface MetricDefinitions {
  /** The metric that another stands over; undefined: its steps. */
  axisOf: (metric: string) => string | undefined
  /** Whether the program wants no chart of it. */
  isHidden: (metric: string) => boolean
}

/** The client's number of the option `hidden`. */
const hidden = 2

/**
 * What the program told `define_metric`. Definitions of one name come before those of patterns, which end in `*`. The client
 * numbers the fields of a definition: platform-wandb 5.3.
 */
export function metricDefinitions(config: string): MetricDefinitions {
  const all = definitionsOf(config)
  const find = (metric: string) =>
    all.find(({ 1: name }) => name === metric) ?? all.find(({ 2: glob }) => fits(metric, glob))
  return {
    axisOf: (metric) => {
      const { 4: name, 5: place } = find(metric) ?? {}
      const axis = typeof place === "number" ? all[place - 1]?.[1] : name
      return typeof axis === "string" && axis !== "" ? axis : undefined
    },
    isHidden: (metric) => {
      const options = find(metric)?.[6]
      return Array.isArray(options) && options.includes(hidden)
    },
  }
}

const fits = (metric: string, glob: unknown) =>
  typeof glob === "string" && glob.endsWith("*") && metric.startsWith(glob.slice(0, -1))

function definitionsOf(config: string): Record<number, unknown>[] {
  const text = clientsOwn(config).get("m") ?? ""
  const values = text.startsWith("[") ? (JSON.parse(readableJson(text)) as unknown[]) : []
  return values.map((value) => (typeof value === "object" && value !== null ? (value as Record<number, unknown>) : {}))
}

/** Deeper values are compared as a whole. */
const deepest = 8

/** The innermost values by their paths, such as `optimizer.lr`. A list is one value; what is a file is left out. */
export function valuesByPath(object: string, prefix = "", depth = 0): Map<string, string> {
  const values = new Map<string, string>()
  for (const [name, text] of memberTexts(object)) {
    const path = prefix + name
    if (!text.startsWith("{") || depth === deepest) values.set(path, text)
    else if (!memberTexts(text).has("_type")) {
      for (const [inner, value] of valuesByPath(text, `${path}.`, depth + 1)) values.set(inner, value)
    }
  }
  return values
}

export interface ComparedValue {
  name: string
  /** JSON texts, one for each side; undefined: it has none. */
  values: (string | undefined)[]
  isSame: boolean
}

/** Every name that one of the sides has, sorted: the client writes members in any order. */
export function comparedValues(sides: readonly ReadonlyMap<string, string>[]): ComparedValue[] {
  const names = new Set(sides.flatMap((side) => [...side.keys()]))
  return [...names].toSorted(byName.compare).map((name) => {
    const values = sides.map((side) => side.get(name))
    return { name, values, isSame: values.every((value) => isSameValue(value, values[0])) }
  })
}

/** `1` and `1.0` are the same; whole numbers past 2^53 only by their digits. */
function isSameValue(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined || !/^-?\d/.test(a) || !/^-?\d/.test(b)) return false
  return Number(a) === Number(b) && Math.abs(Number(a)) <= Number.MAX_SAFE_INTEGER
}

export interface MetricGroup {
  title: string
  metrics: string[]
}

/** By what stands before the first `/`; those without one come first. */
export function metricGroups(metrics: readonly string[], others: string): MetricGroup[] {
  const groups = Map.groupBy(metrics, (metric) => (metric.includes("/") ? metric.slice(0, metric.indexOf("/")) : ""))
  return Array.from(groups, ([title, of]) => ({ title, metrics: of }))
    .toSorted((a, b) => a.title.localeCompare(b.title))
    .map(({ title, metrics: of }) => ({ title: title || others, metrics: of }))
}

/** Facts of the machine, and in which order they are shown. */
const machineFacts = [
  ["os", "System"],
  ["python", "Python"],
  ["program", "Program"],
  ["gpu", "GPU"],
  ["gpu_count", "GPUs"],
  ["cpu_count", "CPU cores"],
] as const

/** What the client notes in the config of the process that wrote last, and of itself. */
export function machineOf(config: string): { name: string; value: string }[] {
  const own = clientsOwn(config)
  const processes = [...memberTexts(own.get("e") ?? "{}").values()]
  const facts = memberTexts(processes.at(-1) ?? "{}")
  const found = machineFacts.flatMap(([key, name]) => factOf(name, facts.get(key)))
  return [...found, ...factOf("wandb", own.get("cli_version"))]
}

function factOf(name: string, text: string | undefined): { name: string; value: string }[] {
  if (text === undefined || !/^["\d]/.test(text)) return []
  return [{ name, value: String(JSON.parse(text)) }]
}
