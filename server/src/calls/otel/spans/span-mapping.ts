/** From a span to the fields of a call: evaluation-store-calls 8. */
import { type JsonMember, membersOf, objectText, withMembers } from "../../../json/json-members.ts"
import { microsecondsOf } from "../../../storage/traces/query/sql-time.ts"
import {
  type AttributePath,
  firstFound,
  type Found,
  integerOf,
  isObjectText,
  isTrue,
  pathsOf,
  textOf,
} from "./attribute-lookup.ts"
import {
  callAttributeNames,
  customAttributeNames,
  detailEvents,
  displayNames,
  eventMessages,
  eventPrefix,
  inputNames,
  outputNames,
  runNames,
  threadNames,
  timeNames,
  turnNames,
  usageNames,
} from "./attribute-names.ts"
import { type AttributeTree, attributeTree, jsonOfNode, Leaf, readForm, type TreeForm } from "./attribute-tree.ts"
import { heldConversation } from "./held-conversation.ts"
import { heldCounts } from "./held-counts.ts"
import { withHeldEvents } from "./held-events.ts"
import { modelIn } from "./span-model.ts"
import { statusOf } from "./span-status.ts"
import { type Span, statusError } from "../trace-request.ts"

/** Payloads are JSON texts, times microseconds since 1970. */
export interface MappedSpan {
  startedAt: bigint
  /** null: the span has not ended. */
  endedAt: bigint | null
  /** null: it did not fail. */
  exception: string | null
  displayName: string | null
  threadId: string | null
  isTurn: boolean
  /** As the client gives it: a run's name, or `entity/project/run`. */
  runId: string | null
  /** In digits. */
  runStep: string | null
  runStepEnd: string | null
  attributes: string
  inputs: string
  output: string
  summary: string
  /** Whether one of them holds what makes `JsonScanner.sawUnreadable`. */
  holdsUnreadable: boolean
}

const paths = {
  inputs: payloadPaths(inputNames),
  output: payloadPaths(outputNames),
  usage: namedPaths(usageNames),
  attributes: namedPaths(callAttributeNames),
  custom: pathsOf(customAttributeNames),
  display: pathsOf(displayNames),
  thread: pathsOf(threadNames),
  turn: pathsOf(turnNames),
  run: namedPaths(runNames),
  time: namedPaths(timeNames),
}

interface PayloadPaths {
  before: readonly AttributePath[]
  /** Name of the events that carry messages; they rank between `before` and `after`. */
  events: string
  after: readonly AttributePath[]
}

function payloadPaths(names: readonly string[]): PayloadPaths {
  const at = names.findIndex((name) => name.startsWith(eventPrefix))
  return { before: pathsOf(names.slice(0, at)), events: names[at] as string, after: pathsOf(names.slice(at + 1)) }
}

function namedPaths<K extends string>(names: Readonly<Record<K, readonly string[]>>) {
  return Object.entries(names).map(([name, all]) => ({ name, paths: pathsOf(all as readonly string[]) })) as {
    name: K
    paths: AttributePath[]
  }[]
}

/** `tree`: of the span's attributes. */
export function mapSpan(sent: Span, tree: AttributeTree): MappedSpan {
  const span = withHeldEvents(sent, tree)
  const told = [tree, ...detailTrees(span)]
  const trees = [...told, ...heldConversation(told)]
  const find = (wanted: readonly AttributePath[]) => firstFound(trees, wanted)
  let holdsUnreadable = false
  const form: TreeForm = { ...readForm, onUnreadable: () => (holdsUnreadable = true) }
  const inputs = payloadOf(span, find, paths.inputs, form)
  const output = payloadOf(span, find, paths.output, form)
  const counted = [...trees, ...heldCounts(trees)]
  const usage = usageOf((wanted) => firstFound(counted, wanted))
  const attributes = attributesOf(find, form)
  const model = modelIn(trees)
  const nothing = inputs === null && output === null && usage.length === 0 && attributes.length === 0
  const [start, end] = paths.time.map((one) => timeOf(find(one.paths)))
  const [runId, runStep, runStepEnd] = paths.run.map((one) => find(one.paths))
  const startNanoseconds = span.startTimeUnixNano === 0n ? span.endTimeUnixNano : span.startTimeUnixNano
  return {
    startedAt: start ?? startNanoseconds / 1000n,
    endedAt: end ?? (span.endTimeUnixNano === 0n ? null : span.endTimeUnixNano / 1000n),
    exception: exceptionOf(span, trees),
    displayName: textOf(find(paths.display)),
    threadId: textOf(find(paths.thread)),
    isTurn: isTrue(find(paths.turn)),
    runId: textOf(runId ?? null),
    runStep: integerOf(runStep ?? null),
    runStepEnd: integerOf(runStepEnd ?? null),
    attributes: withCustom(nothing ? jsonOfNode(tree, form) : objectText(attributes), find(paths.custom), form),
    inputs: inputs === null ? "{}" : inputsText(inputs),
    output: output === null ? "null" : outputText(output),
    summary: usage.length === 0 ? "{}" : `{"usage":{${JSON.stringify(model ?? "usage")}:${objectText(usage)}}}`,
    holdsUnreadable,
  }
}

type Find = (wanted: readonly AttributePath[]) => Found | null

function detailTrees({ events }: Span): AttributeTree[] {
  return events.filter(({ name }) => detailEvents.has(name)).map(({ attributes }) => attributeTree(attributes))
}

/** A name and its JSON. */
function payloadOf(span: Span, find: Find, { before, events, after }: PayloadPaths, form: TreeForm): JsonMember | null {
  const found = find(before)
  if (found !== null) return memberOf(found, form)
  const messages = messagesOf(span, events, form)
  if (messages !== null) return [events, messages]
  const later = find(after)
  return later === null ? null : memberOf(later, form)
}

const memberOf = ({ name, node }: Found, form: TreeForm): JsonMember => [name, jsonOfNode(node, form)]

/** The events that are messages, in order; null: there are none. */
function messagesOf({ events }: Span, name: string, form: TreeForm): string | null {
  const roles = eventMessages[name] as ReadonlyMap<string, string>
  const messages = events.flatMap((event) => {
    const role = roles.get(event.name)
    if (role === undefined) return []
    const tree = attributeTree(event.attributes)
    return jsonOfNode(tree.has("role") ? tree : new Map([["role", new Leaf(role)], ...tree]), form)
  })
  return messages.length === 0 ? null : `[${messages.join(",")}]`
}

/** Kept under its name; an object that is only called input is the inputs. */
function inputsText(member: JsonMember): string {
  const [name, text] = member
  return /^inputs?$/.test(name) && isObjectText(text) ? text : objectText([member])
}

function outputText(member: JsonMember): string {
  const [name, text] = member
  return /^outputs?$/.test(name) ? text : objectText([member])
}

/** The two names that the count of a side may have. */
const spellings = [
  ["input_tokens", "prompt_tokens"],
  ["output_tokens", "completion_tokens"],
] as const

function usageOf(find: Find): JsonMember[] {
  const usage = new Map<string, string>()
  for (const { name, paths: wanted } of paths.usage) {
    const count = integerOf(find(wanted))
    if (count !== null && !count.startsWith("-")) usage.set(name, count)
  }
  // A span that follows two conventions tells a count under both names, and readers of the usage add them up.
  for (const [first, second] of spellings) if (usage.has(first)) usage.delete(second)
  const [input, output] = spellings.map((names) => names.flatMap((name) => usage.get(name) ?? [])[0])
  if (input !== undefined && output !== undefined && !usage.has("total_tokens")) {
    usage.set("total_tokens", String(BigInt(input) + BigInt(output)))
  }
  return [...usage]
}

function attributesOf(find: Find, form: TreeForm): JsonMember[] {
  return paths.attributes.flatMap(({ name, paths: wanted }): JsonMember[] => {
    const found = find(wanted)
    return found === null ? [] : [[name, jsonOfNode(found.node, form)]]
  })
}

/** In place of those of the same name. */
function withCustom(attributes: string, custom: Found | null, form: TreeForm): string {
  if (custom === null) return attributes
  const text = jsonOfNode(custom.node, form)
  if (!isObjectText(text)) return attributes
  return withMembers(attributes, Object.fromEntries(membersOf(text)))
}

/** ISO 8601, or nanoseconds since 1970, or seconds as a double. */
function timeOf(found: Found | null): bigint | null {
  const value = found?.node instanceof Leaf ? found.node.value : null
  if (typeof value === "string") return microsecondsOf(value)
  if (typeof value === "bigint") return value / 1000n
  if (typeof value !== "number" || !Number.isFinite(value)) return null
  // Apart, since the microseconds of a very late second are past what a double holds.
  return BigInt(Math.trunc(value)) * 1_000_000n + BigInt(Math.round((value % 1) * 1e6))
}

/** Error of a failed span, never empty: its status message, else its last exception. */
function exceptionOf(span: Span, trees: readonly AttributeTree[]): string | null {
  const status = statusOf(span, trees)
  if (status.code !== statusError) return null
  if (status.message !== "") return status.message
  const thrown = span.events.findLast(({ name }) => name === "exception")
  const tree = thrown === undefined ? new Map() : attributeTree(thrown.attributes)
  return textOf(firstFound([tree], exceptionPaths)) ?? "the span's status is ERROR, without a message"
}

const exceptionPaths = pathsOf(["exception.message", "exception.type"])
