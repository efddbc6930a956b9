/** Object refs inside payloads replaced by what they name: evaluation-store-calls 3.9. */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { textAt, withMembers, withTextAt } from "../../json/json-members.ts"
import { findRefs } from "../../storage/traces/calls/calls-read.ts"
import type { Expansion } from "../../storage/traces/calls/call-ref-field.ts"
import type { CallsQuery } from "../../storage/traces/calls/calls-selection.ts"
import type { CallRow } from "../../storage/traces/calls/shown-calls.ts"
import { splitPath } from "../../storage/traces/query/sql-value.ts"
import type { Operand } from "../../wire/evaluation/query.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { readRefs } from "../refs/ref-values.ts"
import { type Ref, tryParseRef } from "../refs/refs.ts"

const payloads = ["inputs", "output", "attributes", "summary"] as const

/** Shallow paths first, since a deeper one may lead through what a shallower one brought. */
export async function expandRows(
  dependencies: EvaluationDependencies,
  principal: Principal,
  rows: CallRow[],
  columns: readonly string[],
): Promise<CallRow[]> {
  let expanded = rows
  for (const path of byDepth(columns)) expanded = await expandPath(dependencies, principal, expanded, path)
  return expanded
}

function byDepth(columns: readonly string[]): string[][] {
  return columns.map(splitPath).toSorted((one, other) => one.length - other.length)
}

/** More different refs at one path are not looked through. */
const mostRefs = 10_000

/**
 * What the refs at the paths of `expand_columns` name, for those paths that a field of the query or
 * the sort leads through.
 * @throws {HeddleError} `bad_query` for too many refs.
 */
export async function findExpansions(
  dependencies: EvaluationDependencies,
  principal: Principal,
  calls: Pick<CallsQuery, "projectId" | "projectName" | "filter">,
  columns: readonly string[],
  fields: readonly string[],
): Promise<Expansion[]> {
  const paths = fields.map(splitPath)
  const expansions: Expansion[] = []
  for (const path of byDepth(columns)) {
    const used = paths.some((field) => path.length < field.length && path.every((part, index) => part === field[index]))
    if (!used || !payloads.some((column) => column === path[0])) continue
    const refs = await findRefs(dependencies.traces, calls, { path, expansions }, mostRefs + 1)
    if (refs.length > mostRefs) {
      throw new HeddleError(
        "bad_query",
        `more than ${mostRefs} different refs stand at ${path.join(".")}; narrow the calls with a filter`,
      )
    }
    expansions.push({ path, values: await valuesOf(dependencies, principal, refs) })
  }
  return expansions
}

/** Every path that an expression names. */
export function fieldsOf(expression: Operand): string[] {
  const found: string[] = []
  JSON.stringify(expression, (key, value: unknown) => {
    if (key === "$getField" && typeof value === "string") found.push(value)
    return value
  })
  return found
}

async function expandPath(
  dependencies: EvaluationDependencies,
  principal: Principal,
  rows: CallRow[],
  [head, ...path]: string[],
): Promise<CallRow[]> {
  const column = payloads.find((one) => one === head)
  if (column === undefined) return rows
  const found = rows.map((row) => refAt(row[column], path))
  const values = await valuesOf(
    dependencies,
    principal,
    found.filter((text) => text !== null),
  )
  return rows.map((row, index) => {
    const ref = found[index] ?? null
    const value = ref === null ? null : (values.get(ref) ?? null)
    if (value === null || ref === null) return row
    const shown = value.trimStart().startsWith("{") ? withMembers(value, { _ref: JSON.stringify(ref) }) : value
    return { ...row, [column]: withTextAt(row[column] ?? "null", path, shown) }
  })
}

/** The ref that stands at a path; null: something else does. */
function refAt(payload: string | null | undefined, path: readonly string[]): string | null {
  if (payload === null || payload === undefined || !payload.includes('"weave:')) return null
  const text = textAt(payload, path)
  return text?.startsWith('"weave:') === true ? (JSON.parse(text) as string) : null
}

/** JSON texts by ref. Refs of tables and calls, and of what is gone or another team's, are left out. */
async function valuesOf(
  dependencies: EvaluationDependencies,
  principal: Principal,
  texts: Iterable<string>,
): Promise<Map<string, string>> {
  const refs = [...new Set(texts)].flatMap((text) => {
    const ref = tryParseRef(text)
    return ref !== null && (ref.kind === "object" || ref.kind === "op") ? [{ text, ref }] : []
  })
  const values = await readExisting(
    dependencies,
    principal,
    refs.map(({ ref }) => ref),
  )
  return new Map(refs.flatMap(({ text }, index) => (values[index] == null ? [] : [[text, values[index]] as const])))
}

/** All at once; when one of them is not there, one by one. */
async function readExisting(
  dependencies: EvaluationDependencies,
  principal: Principal,
  refs: readonly Ref[],
): Promise<(string | null)[]> {
  try {
    return await readRefs(dependencies, principal, refs)
  } catch (error) {
    if (!(error instanceof HeddleError) || !absences.has(error.code)) throw error
    if (refs.length === 1) return [null]
    const half = Math.ceil(refs.length / 2)
    const first = await readExisting(dependencies, principal, refs.slice(0, half))
    return [...first, ...(await readExisting(dependencies, principal, refs.slice(half)))]
  }
}

const absences = new Set(["refs_not_found", "project_not_found", "object_deleted", "not_found"])
