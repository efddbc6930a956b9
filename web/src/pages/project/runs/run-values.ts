/** Config and summary of a run as they are shown: texts of JSON, with every digit as it was written. */
import { elementTexts, memberTexts } from "../../../json/json-text.ts"

/** Python writes NaN and the infinities into JSON, where they are no values: they are shown as texts. */
export function readableJson(text: string): string {
  if (!/NaN|Infinity/.test(text)) return text
  if (text.startsWith("{")) return objectOf([...memberTexts(text)].map(([name, value]) => [name, readableJson(value)]))
  if (text.startsWith("[")) return `[${elementTexts(text).map(readableJson).join(", ")}]`
  return /^-?(?:NaN|Infinity)$/.test(text) ? `"${text}"` : text
}

/** What the program set: each member is wrapped into its `value`, and `_wandb` is the client's own. */
export function configText(config: string): string {
  const members = [...memberTexts(config)].filter(([name]) => name !== "_wandb")
  return objectOf(members.map(([name, value]) => [name, readableJson(memberTexts(value).get("value") ?? value)]))
}

/** Without what the client adds to every row. */
export function summaryText(summary: string): string {
  const members = [...memberTexts(summary)].filter(([name]) => !name.startsWith("_"))
  return objectOf(members.map(([name, value]) => [name, readableJson(value)]))
}

export interface SummaryNumber {
  name: string
  value: number
}

/** Numbers of a summary, in the order in which they were logged first. */
export function summaryNumbers(summary: string): SummaryNumber[] {
  return [...memberTexts(summary)].flatMap(([name, text]) =>
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
  const own = memberTexts(memberTexts(memberTexts(config).get("_wandb") ?? "{}").get("value") ?? "{}")
  const processes = [...memberTexts(own.get("e") ?? "{}").values()]
  const facts = memberTexts(processes.at(-1) ?? "{}")
  const found = machineFacts.flatMap(([key, name]) => factOf(name, facts.get(key)))
  return [...found, ...factOf("wandb", own.get("cli_version"))]
}

function factOf(name: string, text: string | undefined): { name: string; value: string }[] {
  if (text === undefined || !/^["\d]/.test(text)) return []
  return [{ name, value: String(JSON.parse(text)) }]
}
