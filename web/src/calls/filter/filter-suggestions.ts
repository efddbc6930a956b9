/** Suggestions for what can be written next in a filter: fields, then operators, then known values. */
import { fieldOf, offeredFields, statuses } from "./filter-fields.ts"
import { type Operator, operators, printClause } from "./filter-text.ts"

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
  /** Values of a field that the calls have, by its name, the most frequent first. */
  values: Readonly<Record<string, readonly string[]>>
}

const most = 8
/** Letters from which on a path is found by one of its parts. */
const shortestPart = 2

const notes: Readonly<Record<string, string>> = {
  status: "ok, error, running",
  op: "the traced function",
  name: "as it is shown",
  duration: "> 10s",
  tokens: "> 5000",
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
  return fieldsFor(draft, known)
    .filter((name) => name !== draft)
    .slice(0, draft === "" ? 6 : most)
    .map((name) => ({
      text: name.endsWith(".") ? name : `${name} `,
      label: name.endsWith(".") ? `${name}…` : name,
      note: notes[name] ?? "",
      isWhole: false,
    }))
}

/** Fields that begin so; after them those of the rows that have a part which begins so, as people know `id` and not its path. */
function fieldsFor(draft: string, known: Known): string[] {
  if (draft === "") return [...offeredFields]
  const paths = [...known.feedback.map((name) => `feedback.${name}`), ...known.paths]
  const fields = [...offeredFields, ...paths]
  const begin = fields.filter((name) => name.startsWith(draft))
  const word = draft.toLowerCase()
  const within = word.length < shortestPart ? [] : paths.filter((name) => name.toLowerCase().includes(`.${word}`))
  return [...new Set([...begin, ...within])]
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
  return valuesOf(field, typed, known)
    .filter((value) => value !== typed)
    .slice(0, most)
    .map((value) => ({
      text: printClause({ field, operator, values: [{ text: value, isQuoted: false }] }),
      label: value,
      note: "",
      isWhole: true,
    }))
}

/** Those that begin as typed; of names, which may be long, after them those that hold it. */
function valuesOf(field: string, typed: string, known: Known): string[] {
  const begins = (value: string) => value.startsWith(typed)
  const kind = fieldOf(field)?.kind
  if (kind === "status") return Object.keys(statuses).filter(begins)
  if (kind === "duration") return durations.filter(begins)
  const own = field === "op" || field === "name" ? known.ops : []
  const values = [...new Set([...own, ...(known.values[field] ?? [])])]
  const word = typed.toLowerCase()
  return [...values.filter(begins), ...values.filter((value) => !begins(value) && value.toLowerCase().includes(word))]
}
