/**
 * Counting each request once: evaluation-store-calls 4.1.
 *
 * The SDKs add the usage of a call to every ancestor of it, and spans of agents often carry the sum over their
 * requests, so a plain sum over calls counts a request once for each of its ancestors. A call's own usage is what it
 * reports. Of a report that includes the usage of the call's descendants, theirs is taken off: of one that is known to be a
 * sum, and of one none of whose counts is less than theirs. Two exceptions: the sum on the span of an agent often leaves out
 * what its tools asked models for, and the report of a request never includes that. A span that reports the same counts as
 * one span inside it tells of the same request, and counts nothing.
 */
import { answers } from "../../storage/traces/agents/counted-usage.ts"
import type { OperationOfSpan } from "../../storage/traces/agents/span-operations.ts"
import type { UsageReport } from "../../storage/traces/calls/usage/usage-reports.ts"
import { latest, version } from "../../storage/traces/model-versions.ts"
import { type TokenUsage, usageByModel } from "./token-usage.ts"

/** By model. */
export type ModelUsage = Map<string, TokenUsage>

/** The name that a span without a model reports under (`otel/spans/span-mapping.ts`): it holds the usage of any model. */
const nameless = "usage"

type Linked = Pick<UsageReport, "id" | "parent_id">

/** By call, what it reports; calls that report nothing are left out. */
export function reportedUsage(reports: readonly UsageReport[]): Map<string, ModelUsage> {
  const reporting = reports.filter(({ usage }) => usage !== "")
  return new Map(reporting.map(({ id, usage }) => [id, usageByModel(JSON.parse(usage))]))
}

/** What the descendants of a call used. */
interface Beneath {
  all: ModelUsage
  /** Without what is inside of tools. */
  outsideTools: ModelUsage
  /** What each of the nearest that report anything reports, outside of tools. */
  nearest: ModelUsage[]
}

const newBeneath = (): Beneath => ({ all: new Map(), outsideTools: new Map(), nearest: [] })

/** By call, what is not a descendant's. `reported`: of {@link reportedUsage}. */
export function ownUsage(
  reports: readonly UsageReport[],
  reported: ReadonlyMap<string, ModelUsage>,
  operations: OperationOfSpan,
): Map<string, ModelUsage> {
  const own = new Map<string, ModelUsage>()
  const below = new Map<string, Beneath>()
  for (const { call, parent } of childrenFirst(reports)) {
    const report = reported.get(call.id) ?? new Map<string, TokenUsage>()
    const beneath = below.get(call.id) ?? newBeneath()
    below.delete(call.id)
    const operation = operations.get(call.id) ?? ""
    const held = answers.includes(operation) ? [beneath.outsideTools] : [beneath.all, beneath.outsideTools]
    const usage: ModelUsage = repeatsOne(report, beneath.nearest) ? new Map() : difference(report, held, call.is_sum)
    own.set(call.id, usage)
    if (parent === null) continue
    const target = below.get(parent) ?? newBeneath()
    below.set(parent, target)
    addBelow(target.all, beneath.all, usage)
    if (operation === "execute_tool") continue
    addBelow(target.outsideTools, beneath.outsideTools, usage)
    if (report.size > 0) target.nearest.push(report)
    else if (target.nearest.length === 0) target.nearest = beneath.nearest
    else for (const one of beneath.nearest) target.nearest.push(one)
  }
  return own
}

function addBelow(target: ModelUsage, beneath: ModelUsage, usage: ModelUsage): void {
  addUsage(target, beneath)
  addUsage(target, usage)
  for (const [model, counts] of usage) if (model !== nameless) addCounts(target, nameless, counts)
}

/** Whether one inside reports the same counts, under whichever name of the model: that of a provider or a deployment. */
function repeatsOne(report: ModelUsage, inside: readonly ModelUsage[]): boolean {
  const [counts, ...more] = report.values()
  if (counts === undefined || more.length > 0) return false
  const { prompt_tokens, completion_tokens } = counts
  if (prompt_tokens <= 0 || completion_tokens <= 0) return false
  return inside.some((usage) => {
    const [theirs] = usage.values()
    return usage.size === 1 && theirs?.prompt_tokens === prompt_tokens && theirs.completion_tokens === completion_tokens
  })
}

/** Every call after its children, with its parent; null where that is not here, or the parents go in a circle. */
export function* childrenFirst<T extends Linked>(calls: readonly T[]): Generator<{ call: T; parent: string | null }> {
  const byId = new Map(calls.map((call) => [call.id, call]))
  const childrenLeft = new Map<string, number>()
  const parentOf = ({ id, parent_id }: T) =>
    parent_id !== null && parent_id !== id && byId.has(parent_id) ? parent_id : null
  for (const call of calls) {
    const parent = parentOf(call)
    if (parent !== null) childrenLeft.set(parent, (childrenLeft.get(parent) ?? 0) + 1)
  }
  const ready = calls.filter(({ id }) => !childrenLeft.has(id))
  const left = new Set(calls)
  for (let call = ready.pop(); call !== undefined; call = ready.pop()) {
    left.delete(call)
    const parent = parentOf(call)
    yield { call, parent }
    if (parent === null) continue
    const open = (childrenLeft.get(parent) ?? 0) - 1
    childrenLeft.set(parent, open)
    if (open === 0) ready.push(byId.get(parent) as T)
  }
  for (const call of left) yield { call, parent: null }
}

/** Adds to the counts of `target`, which are its own, model by model; a count of null stays null. */
export function addUsage<T extends Record<keyof T, number | null>>(
  target: Map<string, T>,
  source: ReadonlyMap<string, T>,
): void {
  for (const [model, usage] of source) addCounts(target, model, usage)
}

function addCounts<T extends Record<keyof T, number | null>>(target: Map<string, T>, model: string, counts: T): void {
  const sum = target.get(model)
  if (sum === undefined) {
    target.set(model, { ...counts })
    return
  }
  for (const name of namesOf(counts)) {
    const [one, other]: [number | null, number | null] = [sum[name], counts[name]]
    sum[name] = (one === null || other === null ? null : one + other) as T[typeof name]
  }
}

/** `beneath`: the first of them that a report holds is taken from it. */
function difference(usage: ModelUsage, beneath: readonly ModelUsage[], isSum: boolean): ModelUsage {
  const below = beneath.filter((one) => one.size > 0)
  if (below.length === 0) return usage
  const own: ModelUsage = new Map()
  const versions = below.map((one) => unreportedVersions(one, usage))
  for (const [model, counts] of usage) {
    const name = model.replace(latest, "")
    const held = below.map((one, index) => heldBy(counts, one.get(model), versions[index]?.get(name), isSum))
    const theirs = held.find((one) => one !== null) ?? null
    for (const one of versions) one.delete(name)
    if (theirs === null) {
      own.set(model, counts)
      continue
    }
    const rest = combined(counts, theirs, (a, b) => Math.max(0, a - b))
    if (Object.values(rest).some((count) => count !== 0)) own.set(model, rest)
  }
  return own
}

/** What a report holds of its descendants'; null: nothing. `versions`: what they report under versions of its model. */
function heldBy(
  counts: TokenUsage,
  exact: TokenUsage | undefined,
  versions: TokenUsage | undefined,
  isSum: boolean,
): TokenUsage | null {
  if (isSum && exact !== undefined) return exact
  const both = exact === undefined || versions === undefined ? versions : combined(exact, versions, (a, b) => a + b)
  return [both, exact].find((one) => one !== undefined && holds(counts, one)) ?? null
}

/**
 * By the name without a version, the usage of descendants under versions that the call itself does not report: a model is
 * asked for as `gpt-4o` and answers as `gpt-4o-2024-08-06`, and what is around the request has the first name.
 */
function unreportedVersions(below: ModelUsage, usage: ModelUsage): ModelUsage {
  const sums: ModelUsage = new Map()
  for (const [model, counts] of below) {
    if (version.test(model) && !usage.has(model)) addUsage(sums, new Map([[model.replace(version, ""), counts]]))
  }
  return sums
}

function holds(counts: TokenUsage, others: TokenUsage): boolean {
  return namesOf(counts).every((name) => counts[name] >= others[name])
}

function combined(a: TokenUsage, b: TokenUsage, by: (a: number, b: number) => number): TokenUsage {
  const both = { ...a }
  for (const name of namesOf(a)) both[name] = by(a[name], b[name])
  return both
}

function namesOf<T extends object>(usage: T): (keyof T)[] {
  return Object.keys(usage) as (keyof T)[]
}
