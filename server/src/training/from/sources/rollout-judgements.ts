/**
 * What was said of the calls around a rollout's turns: feedback, scores of evaluations, labels of a queue. Around a turn are
 * the call that it names, those that enclose it, and the root of the trace that it names. The nearest call of which something
 * was said counts, and of equally near ones that of the newest turn.
 */
import type { ProjectAccess } from "../../../access/project-access.ts"
import type { CatalogDatabase } from "../../../storage/catalog/open-catalog.ts"
import { retentionDays } from "../../../storage/catalog/accounts/call-retention.ts"
import { listTurnCalls, type TurnCall } from "../../../storage/catalog/training/rollout-turn-calls.ts"
import { readCallTexts } from "../../../storage/traces/calls/call-texts.ts"
import { readEnclosingCalls, readTraceRoots, type TreeCall } from "../../../storage/traces/calls/enclosing-calls.ts"
import { isTrialOp } from "../../../storage/traces/evaluations/trials.ts"
import type { TraceStore } from "../../../storage/traces/store/trace-store.ts"
import type { RowExtra } from "../map-rows-task.ts"
import { extraPlaces, type RowPlan } from "../row-plan.ts"
import type { LabelledCall } from "../row-source.ts"

export type Judgement = Pick<RowExtra, "fields" | "disputed" | "absent" | "feedbackIds" | "drop">

export const noJudgement: Judgement = { fields: {}, disputed: [], absent: {}, feedbackIds: [], drop: null }

interface Stores {
  database: CatalogDatabase
  traces: TraceStore
  project: ProjectAccess
}

/** By id of the rollout in the catalog. */
export type Judge = (rollouts: readonly string[]) => Promise<Map<string, Judgement>>

/** `labels`: of the queue that the request names; null: it names none. */
export async function judgeOf(
  stores: Stores,
  plan: RowPlan,
  labels: AsyncIterable<LabelledCall[]> | null,
): Promise<Judge> {
  const asked = askedFields(plan)
  if (asked.length === 0) return () => Promise.resolve(new Map())
  const isByLabel = asked.some(({ kind }) => kind === "label")
  const labelOf = isByLabel && labels !== null ? await byCall(labels) : new Map<string, LabelledCall>()
  return async (rollouts) => {
    const around = await callsAround(stores, rollouts)
    const ids = [...new Set([...around.values()].flatMap(({ calls }) => calls.map(({ id }) => id)))]
    const read = asked.flatMap(({ read: names }) => names)
    const kept = await retentionDays(stores.database, stores.project.id)
    const project = { projectId: stores.project.id, projectName: stores.project.name, retentionDays: kept }
    const texts = await readCallTexts(stores.traces, project, read.length === 0 ? [] : ids, read)
    const textOf = ({ id }: TreeCall, field: string) => texts.get(id)?.[read.indexOf(field)] ?? null
    return new Map([...around].map(([rollout, one]) => [rollout, judged(one, asked, textOf, labelOf)]))
  }
}

async function byCall(labels: AsyncIterable<LabelledCall[]>): Promise<Map<string, LabelledCall>> {
  const found = new Map<string, LabelledCall>()
  for await (const some of labels) for (const one of some) found.set(one.callId, one)
  return found
}

interface AskedField {
  name: string
  kind: "feedback" | "scores" | "label"
  /** What is read of calls: the value, and of feedback its id. */
  read: string[]
}

function askedFields(plan: RowPlan): AskedField[] {
  const names = new Set(extraPlaces(plan).map(({ name }) => name))
  return [...names].flatMap((name): AskedField[] => {
    if (name.startsWith("label.")) return [{ name, kind: "label", read: [] }]
    if (name.startsWith("scores.")) return [{ name, kind: "scores", read: [`output.${name}`] }]
    if (!name.startsWith("feedback.")) return []
    return [{ name, kind: "feedback", read: [name, `${name.slice(0, name.indexOf("]") + 1)}.id`] }]
  })
}

interface Around {
  /** The nearest first. */
  calls: TreeCall[]
  /** Why there are none. */
  nothing: string
}

async function callsAround(
  { database, traces, project }: Stores,
  rollouts: readonly string[],
): Promise<Map<string, Around>> {
  const turns = await listTurnCalls(database, rollouts)
  const named = turns.flatMap(({ callId, spanId }) => [callId, spanId].filter((id) => id !== null))
  const calls = await readEnclosingCalls(traces, project.id, named)
  const traceIds = [...new Set(turns.flatMap(({ traceId }) => traceId ?? []))]
  const roots = Map.groupBy(await readTraceRoots(traces, project.id, traceIds), ({ trace_id: trace }) => trace)
  const byRollout = Map.groupBy(turns, ({ rollout }) => rollout)
  return new Map(
    rollouts.map((rollout) => {
      const own = byRollout.get(rollout) ?? []
      const nothing =
        own.length === 0
          ? "its calls named no call or trace that they were made in"
          : `what its calls were made in, such as ${placeOf(own[0])}, is not in ${project.name}`
      return [rollout, { calls: nearestFirst(own, calls, roots), nothing }]
    }),
  )
}

function placeOf(turn: TurnCall | undefined): string {
  return turn?.callId == null ? `trace ${turn?.traceId}` : `call ${turn.callId}`
}

function nearestFirst(
  turns: readonly TurnCall[],
  calls: ReadonlyMap<string, TreeCall>,
  roots: ReadonlyMap<string, TreeCall[]>,
): TreeCall[] {
  const levels: TreeCall[][] = []
  for (const { callId, spanId, traceId } of turns) {
    const span = calls.get(spanId ?? "")
    // Ids of spans are short: in another trace one is another call.
    const starts = [calls.get(callId ?? ""), span?.trace_id === traceId ? span : undefined]
    for (const start of starts) upwards(start, calls).forEach((call, level) => (levels[level] ??= []).push(call))
  }
  const outermost = turns.flatMap(({ traceId }) => roots.get(traceId ?? "") ?? [])
  return [...new Map([...levels.flat(), ...outermost].map((call) => [call.id, call])).values()]
}

/** The call and those that enclose it. */
function upwards(start: TreeCall | undefined, calls: ReadonlyMap<string, TreeCall>): TreeCall[] {
  const chain = new Map<string, TreeCall>()
  for (let call = start; call !== undefined && !chain.has(call.id); call = calls.get(call.parent_id ?? "")) {
    chain.set(call.id, call)
  }
  return [...chain.values()]
}

/** What one field is, or why it is nothing. */
type Said = { text: string; feedbackIds: readonly string[] } | { absent: string }

type TextOf = (call: TreeCall, field: string) => string | null

function judged(
  around: Around,
  asked: readonly AskedField[],
  textOf: TextOf,
  labelOf: ReadonlyMap<string, LabelledCall>,
): Judgement {
  const labelled = around.calls.flatMap(({ id }) => labelOf.get(id) ?? []).at(0) ?? null
  const isByLabel = asked.some(({ kind }) => kind === "label")
  const judgement: Judgement & { feedbackIds: string[] } = {
    fields: {},
    absent: {},
    disputed: (isByLabel ? (labelled?.disputed ?? []) : []).map((field) => `label.${field}`),
    feedbackIds: [],
    drop: isByLabel && labelled?.isUnlabelled === true ? unlabelled(labelled) : null,
  }
  for (const field of asked) {
    const said = field.kind === "label" ? labelIn(around, field, labelled) : valueIn(around, field, textOf)
    if ("absent" in said) judgement.absent[field.name] = said.absent
    else {
      judgement.fields[field.name] = said.text
      judgement.feedbackIds.push(...said.feedbackIds)
    }
  }
  return judgement
}

function unlabelled({ callId }: LabelledCall): RowExtra["drop"] {
  return { cause: "not_labelled", detail: `no annotator has completed call ${callId}, which it was made in` }
}

function labelIn(around: Around, { name }: AskedField, labelled: LabelledCall | null): Said {
  if (labelled === null) return { absent: why(around, "is in the queue") }
  const field = name.slice("label.".length)
  const text = Object.hasOwn(labelled.fields, field) ? labelled.fields[field] : undefined
  if (text === undefined) return { absent: `call ${labelled.callId} has no such label` }
  return { text, feedbackIds: labelled.feedbackIds }
}

function valueIn(around: Around, { kind, read: [value = "", id] }: AskedField, textOf: TextOf): Said {
  const isScore = kind === "scores"
  const fit = isScore ? around.calls.filter(({ op_name: op }) => isTrialOp(op)) : around.calls
  for (const call of fit) {
    const text = textOf(call, value)
    if (text === null) continue
    const feedbackId = id === undefined ? null : textOf(call, id)
    return { text, feedbackIds: feedbackId === null ? [] : [feedbackId] }
  }
  if (isScore && fit[0] !== undefined) return { absent: `the trial ${fit[0].id} has no such score` }
  return { absent: why(around, isScore ? "is a trial of an evaluation" : "has such feedback") }
}

function why({ calls, nothing }: Around, wanted: string): string {
  if (calls.length === 0) return nothing
  return `of the calls that it was made in (${calls.length}, nearest ${calls[0]?.id}) none ${wanted}`
}
