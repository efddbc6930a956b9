/** Object refs inside payloads replaced by what they name: evaluation-store-calls 3.9. */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { textAt, withMembers, withTextAt } from "../../json/json-members.ts"
import { findRefs } from "../../storage/traces/calls/calls-read.ts"
import type { Expansion } from "../../storage/traces/calls/fields/call-ref-field.ts"
import type { CallsQuery } from "../../storage/traces/calls/calls-selection.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import { splitPath } from "../../storage/traces/query/sql-value.ts"
import type { CallDependencies } from "../dependencies.ts"
import { checkRefBytes, readRefs } from "../../objects/refs/ref-values.ts"
import { type Ref, tryParseRef } from "../../objects/refs/refs.ts"

const payloads = ["inputs", "output", "attributes", "summary"] as const

/** Limit on expanded values: one may have megabytes and appear in every row. */
const pieceBytes = 16 * 1024 ** 2

/** In order, in pieces. @throws {HeddleError} `payload_too_large` for one row that would have too much. */
export async function* expandRows(
  dependencies: CallDependencies,
  principal: Principal,
  rows: readonly CallRow[],
  columns: readonly string[],
): AsyncGenerator<readonly CallRow[]> {
  const expanded = await expandAtOnce(dependencies, principal, rows, columns).catch((error: unknown) => {
    if (rows.length > 1 && error instanceof HeddleError && error.code === "payload_too_large") return null
    throw error
  })
  if (expanded !== null) return yield expanded
  const half = Math.ceil(rows.length / 2)
  yield* expandRows(dependencies, principal, rows.slice(0, half), columns)
  yield* expandRows(dependencies, principal, rows.slice(half), columns)
}

/** Shallow paths first, since a deeper one may lead through what a shallower one brought. */
async function expandAtOnce(
  dependencies: CallDependencies,
  principal: Principal,
  rows: readonly CallRow[],
  columns: readonly string[],
): Promise<readonly CallRow[]> {
  const mostBytes = rows.length > 1 ? pieceBytes : dependencies.limits.refs_value_bytes
  let expanded = rows
  let bytes = 0
  for (const path of byDepth(columns)) {
    const refs = refsAt(expanded, path)
    const values = await valuesOf(dependencies, principal, refs.keys(), mostBytes)
    for (const [ref, count] of refs) bytes += count * (values.get(ref)?.length ?? 0)
    checkRefBytes(bytes, mostBytes)
    expanded = withValues(expanded, path, values)
  }
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
  dependencies: CallDependencies,
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

/** How often each ref stands at the path. */
function refsAt(rows: readonly CallRow[], path: readonly string[]): Map<string, number> {
  const refs = new Map<string, number>()
  for (const row of rows) {
    const ref = refIn(row, path)
    if (ref !== null) refs.set(ref, (refs.get(ref) ?? 0) + 1)
  }
  return refs
}

function withValues(
  rows: readonly CallRow[],
  path: readonly string[],
  values: ReadonlyMap<string, string>,
): readonly CallRow[] {
  const [head, ...rest] = path
  const column = payloads.find((one) => one === head)
  if (column === undefined) return rows
  return rows.map((row) => {
    const ref = refIn(row, path)
    const value = ref === null ? null : (values.get(ref) ?? null)
    if (value === null || ref === null) return row
    const expanded = value.trimStart().startsWith("{") ? withMembers(value, { _ref: JSON.stringify(ref) }) : value
    return { ...row, [column]: withTextAt(row[column] ?? "null", rest, expanded) }
  })
}

function refIn(row: CallRow, [head, ...path]: readonly string[]): string | null {
  const column = payloads.find((one) => one === head)
  return column === undefined ? null : refAt(row[column], path)
}

/** The ref that stands at a path; null: something else does. */
function refAt(payload: string | null | undefined, path: readonly string[]): string | null {
  if (payload === null || payload === undefined || !payload.includes('"weave:')) return null
  const text = textAt(payload, path)
  return text?.startsWith('"weave:') === true ? (JSON.parse(text) as string) : null
}

/** JSON texts by ref. Refs of tables and calls, and of what is gone or another team's, are left out. */
async function valuesOf(
  dependencies: CallDependencies,
  principal: Principal,
  texts: Iterable<string>,
  mostBytes = dependencies.limits.refs_value_bytes,
): Promise<Map<string, string>> {
  const refs = [...new Set(texts)].flatMap((text) => {
    const ref = tryParseRef(text)
    return ref !== null && (ref.kind === "object" || ref.kind === "op") ? [{ text, ref }] : []
  })
  const values = await readExisting(
    dependencies,
    principal,
    refs.map(({ ref }) => ref),
    mostBytes,
  )
  return new Map(refs.flatMap(({ text }, index) => (values[index] == null ? [] : [[text, values[index]] as const])))
}

/** All at once; when one of them is not there, one by one. */
async function readExisting(
  dependencies: CallDependencies,
  principal: Principal,
  refs: readonly Ref[],
  mostBytes: number,
): Promise<(string | null)[]> {
  try {
    return await readRefs(dependencies, principal, refs, mostBytes)
  } catch (error) {
    if (!(error instanceof HeddleError) || !absences.has(error.code)) throw error
    if (refs.length === 1) return [null]
    const half = Math.ceil(refs.length / 2)
    const first = await readExisting(dependencies, principal, refs.slice(0, half), mostBytes)
    return [...first, ...(await readExisting(dependencies, principal, refs.slice(half), mostBytes))]
  }
}

const absences = new Set(["refs_not_found", "project_not_found", "object_deleted", "not_found"])
