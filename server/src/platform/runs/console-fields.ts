/** Console lines and system rows of a run: platform-wandb 8. */
import { isJsonObject } from "../../json/parsed-json.ts"
import { lastRunLine, readRunLines } from "../../storage/traces/runs/run-lines.ts"
import type { RunKey } from "../../storage/traces/runs/run-tables.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { countBefore, cursorAt } from "./run-ids.ts"

const mostLines = 1000

interface LogLinesArguments {
  first?: number | null
  after?: string | null
  last?: number | null
}

export async function logLinesField(traces: TraceStore, run: RunKey, { first, after, last }: LogLinesArguments) {
  const limit = Math.min(Math.max(last ?? first ?? mostLines, 1), mostLines)
  const isTail = typeof last === "number"
  const from = isTail ? 0 : countBefore(after)
  const lines = await readRunLines(traces, run, "console", { from, limit: isTail ? limit : limit + 1, isTail })
  const page = isTail ? lines : lines.slice(0, limit)
  const end = page.at(-1)
  return {
    edges: page.map(({ number, text }) => ({ node: { number, ...consoleLine(text) }, cursor: cursorAt(number + 1) })),
    pageInfo: {
      hasNextPage: lines.length > page.length,
      endCursor: end === undefined ? null : cursorAt(end.number + 1),
    },
  }
}

interface ConsoleLine {
  line: string
  timestamp: string | null
  level: string | null
  label: string | null
}

/** A line is JSON, or text that begins with its level, time and label: platform-wandb 3.4. */
function consoleLine(text: string): ConsoleLine {
  return structuredLine(text) ?? plainLine(text)
}

function structuredLine(text: string): ConsoleLine | null {
  if (!text.startsWith("{")) return null
  try {
    const value: unknown = JSON.parse(text)
    if (!isJsonObject(value) || typeof value["content"] !== "string") return null
    return {
      line: value["content"],
      timestamp: textOrNull(value["ts"]),
      level: textOrNull(value["level"]),
      label: textOrNull(value["label"]),
    }
  } catch {
    return null
  }
}

const plain = /^(?<error>ERROR )?(?<time>\d{4}-\d\d-\d\dT[\d:.]+Z?) (?:\[(?<label>[^\]]*)\] )?(?<line>.*)$/s

function plainLine(text: string): ConsoleLine {
  const { error, time, label, line } = plain.exec(text)?.groups ?? {}
  const level = error === undefined ? null : "error"
  return { line: line ?? text, timestamp: time ?? null, level, label: label ?? null }
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null
}

export async function eventsTailField(traces: TraceStore, run: RunKey): Promise<string> {
  const last = await lastRunLine(traces, run, "events")
  return JSON.stringify(last === null ? [] : [last])
}

/** JSON text of the last system row; null: none. */
export function systemMetricsField(traces: TraceStore, run: RunKey): Promise<string | null> {
  return lastRunLine(traces, run, "events").then((text) => (text === null ? null : withoutNotFinite(text)))
}
