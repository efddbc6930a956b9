/** Messages that one attribute holds together, as a JSON list of events: evaluation-store-calls 8. */
import { elementsOf, membersOf } from "../../../json/json-members.ts"
import type { KeyValue } from "../otlp/any-value.ts"
import type { Span, SpanEvent } from "../trace-request.ts"
import { firstFound, pathsOf } from "./attribute-lookup.ts"
import { eventMessages, heldEventsName } from "./attribute-names.ts"
import { type AttributeTree, jsonOfNode, readForm } from "./attribute-tree.ts"

const paths = pathsOf([heldEventsName])
const known = new Set(Object.values(eventMessages).flatMap((roles) => [...roles.keys()]))
const [answer, choice] = ["gen_ai.assistant.message", "gen_ai.choice"]

/** The span with such events among its own; without any it is the same span. `tree`: of its attributes. */
export function withHeldEvents(span: Span, tree: AttributeTree): Span {
  const found = firstFound([tree], paths)
  if (found === null) return span
  const held = elementsOf(jsonOfNode(found.node, readForm)).flatMap((text) => heldEvent(text, span))
  return held.length === 0 ? span : { ...span, events: [...span.events, ...withChoices(held)] }
}

function heldEvent(text: string, { startTimeUnixNano }: Span): SpanEvent[] {
  const members = new Map(membersOf(text).filter(([, value]) => value !== "null"))
  const name = valueOf(members.get("event.name") ?? "")
  if (!known.has(name)) return []
  members.delete("event.name")
  const attributes = Array.from(members, ([key, value]): KeyValue => ({ key, value: valueOf(value) }))
  return [{ timeUnixNano: startTimeUnixNano, name, attributes, droppedAttributesCount: 0 }]
}

/** A text as it is, anything else as its JSON, which readers of messages take as what it is. */
function valueOf(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
}

/** Logfire's list of a request by the Responses API ends with the answer, which is not told as a choice. */
function withChoices(events: readonly SpanEvent[]): readonly SpanEvent[] {
  if (events.some(({ name }) => name === choice)) return events
  const last = events.findLastIndex(({ name }) => name !== answer)
  return events.map((event, index) => (index > last ? { ...event, name: choice } : event))
}
