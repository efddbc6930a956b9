/** Suggestions for what can be written next in a filter: fields, then operators, then known values. */
import { fieldOf, offeredFields, statuses } from "./filter-fields.ts"
import { type Operator, operators } from "./filter-text.ts"

export interface Suggestion {
  /** The draft when it is taken. */
  text: string
  label: string
  note: string
  /** Nothing has to follow. */
  isWhole: boolean
}

export interface Known {
  /** Names of operations, and paths of payloads, of the rows that are there. */
  ops: readonly string[]
  paths: readonly string[]
  feedback: readonly string[]
}

const most = 8

const notes: Readonly<Record<string, string>> = {
  status: "ok, error, running",
  op: "the traced function",
  name: "as it is shown",
  duration: "> 10s",
  error: "what the exception says",
  model: "as it was asked for",
  feedback: "exists, missing",
  "feedback.": "a score or label by its name",
  "inputs.": "any value that went in",
  "output.": "any value that came out",
  "attributes.": "what the program attached",
  "summary.": "what the call summed up",
  started: "> 2026-11-20",
}

const durations = ["1s", "10s", "1m"]

export function suggestionsFor(draft: string, known: Known): Suggestion[] {
  const { field = "", rest = "" } = /^(?<field>[^\s"<>=!]+)\s(?<rest>.*)$/s.exec(draft)?.groups ?? {}
  const found = fieldOf(field)
  if (found !== null) {
    const operator = operators.toSorted((a, b) => b.length - a.length).find((one) => rest.startsWith(`${one} `))
    if (operator === undefined) return operatorsFor(field, rest)
    return valuesFor(field, operator, rest.slice(operator.length + 1), known)
  }
  if (/\s/.test(draft)) return []
  const dynamic = [...known.feedback.map((name) => `feedback.${name}`), ...known.paths]
  return [...offeredFields, ...(draft.includes(".") ? dynamic : [])]
    .filter((name) => name.startsWith(draft) && name !== draft)
    .slice(0, draft === "" ? 6 : most)
    .map((name) => ({
      text: name.endsWith(".") ? name : `${name} `,
      label: name.endsWith(".") ? `${name}…` : name,
      note: notes[name] ?? "",
      isWhole: false,
    }))
}

function operatorsFor(field: string, typed: string): Suggestion[] {
  return operators
    .filter((operator) => operator.startsWith(typed) && takes(field, operator))
    .map((operator) => {
      const isWhole = operator === "exists" || operator === "missing"
      return {
        text: isWhole ? `${field} ${operator}` : `${field} ${operator} `,
        label: `${field} ${operator}`,
        note: "",
        isWhole,
      }
    })
}

function takes(field: string, operator: Operator): boolean {
  return fieldOf(field)?.problemOf({ field, operator, values: [] }) === null
}

function valuesFor(field: string, operator: Operator, typed: string, known: Known): Suggestion[] {
  const kind = fieldOf(field)?.kind
  const values =
    kind === "status"
      ? Object.keys(statuses)
      : kind === "duration"
        ? durations
        : field === "op" || field === "name"
          ? known.ops
          : []
  return values
    .filter((value) => value.startsWith(typed) && value !== typed)
    .slice(0, most)
    .map((value) => ({ text: `${field} ${operator} ${value}`, label: value, note: "", isWhole: true }))
}
