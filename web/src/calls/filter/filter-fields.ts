/** The fields of the filter language, and which values each of them takes. */
import type { Clause, Operator } from "./filter-text.ts"

export interface FilterField {
  kind: "text" | "status" | "duration" | "time" | "json" | "feedback"
  /** Where the API has it; of feedback nothing. */
  path: string
  /** The problem of a clause as a sentence, or null. */
  problemOf: (clause: Clause) => string | null
}

const equality: readonly Operator[] = ["is", "is not", "in"]
const order: readonly Operator[] = ["<", "<=", ">", ">="]
const presence: readonly Operator[] = ["exists", "missing"]
const anyOperator: readonly Operator[] = [...equality, ...order, ...presence, "contains"]

export const statuses = {
  ok: "success",
  error: "error",
  running: "running",
  descendant_error: "descendant_error",
} as const

type Check = (value: string) => string | null

function field(kind: FilterField["kind"], path: string, allowed: readonly Operator[], check?: Check): FilterField {
  return {
    kind,
    path,
    problemOf: ({ field: name, operator, values }) => {
      if (!allowed.includes(operator)) return `“${name}” takes ${allowed.join(", ")}.`
      return values.map(({ text }) => check?.(text) ?? null).find((problem) => problem !== null) ?? null
    },
  }
}

const text = (path: string) => field("text", path, [...equality, "contains", ...presence])

/** Names that people write, of fields that every call has. */
const named: Readonly<Record<string, FilterField>> = {
  op: field("text", "op_name", [...equality, "contains"]),
  name: text("summary.weave.trace_name"),
  status: field("status", "summary.weave.status", equality, (value) =>
    Object.hasOwn(statuses, value) ? null : `A status is one of ${Object.keys(statuses).join(", ")}.`,
  ),
  error: text("exception"),
  duration: field("duration", "summary.weave.latency_ms", order, (value) =>
    durationOf(value) === null ? "A duration has a unit: 500ms, 10s, 2m, 1h." : null,
  ),
  tokens: field("json", "summary.weave.tokens", [...order, ...presence], (value) =>
    /^\d+$/.test(value) ? null : "Tokens are a whole number: 5000.",
  ),
  started: field("time", "started_at", order, checkTime),
  ended: field("time", "ended_at", [...order, ...presence], checkTime),
  model: field("json", "inputs.model", [...equality, "contains", ...presence]),
  user: text("wb_user_id"),
  thread: text("thread_id"),
  trace: text("trace_id"),
  call: text("id"),
  feedback: field("feedback", "", presence),
}

/** Fields offered while one is typed, the likeliest first. */
export const offeredFields = [
  "status",
  "op",
  "name",
  "duration",
  "tokens",
  "error",
  "model",
  "feedback",
  "feedback.",
  "inputs.",
  "output.",
  "attributes.",
  "summary.",
  "started",
  "thread",
  "trace",
  "call",
] as const

/** null: the name is no field. */
export function fieldOf(name: string): FilterField | null {
  if (Object.hasOwn(named, name)) return named[name] ?? null
  const [head = "", ...rest] = name.split(".")
  if (rest.some((part) => part === "")) return null
  if (head === "output") return field("json", name, anyOperator)
  if (rest.length === 0) return null
  if (["inputs", "attributes", "summary"].includes(head)) return field("json", name, anyOperator)
  return head === "feedback" ? field("feedback", rest.join("."), anyOperator) : null
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 }

/** Milliseconds; null: it is no duration. */
export function durationOf(value: string): number | null {
  const { number, unit = "" } = /^(?<number>\d+(?:\.\d+)?)(?<unit>ms|s|min|m|h)$/.exec(value)?.groups ?? {}
  return number === undefined ? null : Number(number) * (units[unit] ?? 1)
}

function checkTime(value: string): string | null {
  return timeOf(value) === null ? "A time is written 2026-11-20 or 2026-11-20T14:30." : null
}

/** Unix seconds; a day alone begins at midnight where the reader is. null: it is no time. */
export function timeOf(value: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/.test(value)) return null
  const time = Date.parse(value.length === 10 ? `${value}T00:00` : value)
  return Number.isNaN(time) ? null : time / 1000
}
