/** A stored span as an answer shows it: evaluation-store-calls 10. */
import {
  columnOf,
  isAttributeSource,
  type SpanColumnKind,
  type SpanColumnName,
  spanColumnNames,
} from "../../storage/traces/agents/span-columns.ts"
import { attributesOf, type StoredSpan } from "../../storage/traces/agents/span-list.ts"
import { formatTime } from "../../storage/traces/agents/span-measures.ts"
import { costColumns } from "../../storage/traces/agents/span-source.ts"
import type { AgentSpan } from "../../wire/agents/span-query.ts"

export function agentSpan(row: StoredSpan, projectName: string): AgentSpan {
  const columns = spanColumnNames.map((name) => [name, columnValue(row, name)])
  const costs = costColumns.map((name) => [name, row[name] ?? null])
  return { project_id: projectName, ...Object.fromEntries([...columns, ...costs]) } as AgentSpan
}

function columnValue(row: StoredSpan, name: SpanColumnName): unknown {
  const value = isAttributeSource(name) ? attributesOf(row, name) : row[name]
  return formOfKind[columnOf(name).kind](value ?? null)
}

const text = (value: unknown) => (value === "" ? null : value)
const whole = (value: unknown) => (value === null ? null : wholeNumber(value as string))
const list = (value: unknown) => value ?? []
const map = (value: unknown) => value ?? {}

const formOfKind: Record<SpanColumnKind, (value: unknown) => unknown> = {
  text,
  word: text,
  time: (value) => formatTime(value as string | null),
  count: whole,
  integer: whole,
  number: (value) => value,
  list,
  messages: list,
  text_map: map,
  integer_map: (value) => Object.fromEntries(Object.entries(map(value)).map(([key, digits]) => [key, whole(digits)])),
  number_map: map,
  bool_map: map,
}

/** The number with all its digits, even when a double cannot hold them. */
function wholeNumber(digits: string): unknown {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(digits)
}
