/** The refs that feedback carries: evaluation-store-objects 12. */
import { HeddleError } from "../errors.ts"

export interface FeedbackRef {
  /** `entity/project`. */
  project: string
  kind: "object" | "op" | "call"
  /** Of an object or op; the id of a call. */
  name: string
}

const objectTail = /^(?<name>[^/:]+):(?<version>[^/:]+)(?:\/(?:attr|key|index|id)\/[^/]+)*$/
const callTail = /^[^/:]+$/

/** @throws {HeddleError} `invalid_request` when `text` is no ref of one of these kinds. */
export function checkRef(text: string, field: string, kinds: readonly FeedbackRef["kind"][]): FeedbackRef {
  const ref = parseRef(text)
  if (ref !== null && kinds.includes(ref.kind)) return ref
  const form = kinds.map((kind) => (kind === "call" ? "call/<id>" : `${kind}/<name>:<version>`)).join(" or ")
  throw new HeddleError("invalid_request", `${field} "${text}" is not a ref weave:///<entity>/<project>/${form}`)
}

function parseRef(text: string): FeedbackRef | null {
  const parts = /^weave:\/\/\/(?<project>[^/]+\/[^/]+)\/(?<kind>object|op|call)\/(?<tail>.+)$/s.exec(text)?.groups
  if (parts === undefined) return null
  const { project = "", kind = "", tail = "" } = parts
  if (kind === "call") return callTail.test(tail) ? { project, kind, name: tail } : null
  const name = objectTail.exec(tail)?.groups?.["name"]
  return name === undefined ? null : { project, kind: kind as "object" | "op", name }
}

/** What a turn or conversation of an agent is called in `weave:///e/p/agent_turn/<trace id>` and its like; null for other refs. */
export function agentTarget(text: string): { span: "span_trace_id" | "span_conversation_id"; id: string } | null {
  const match = /^weave:\/\/\/[^/]+\/[^/]+\/agent_(turn|conversation)\/([^/]+)$/.exec(text)
  if (match === null) return null
  const [, kind = "", id = ""] = match
  return kind === "turn" ? { span: "span_trace_id", id } : { span: "span_conversation_id", id: unescaped(id, text) }
}

function unescaped(id: string, ref: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    throw new HeddleError("invalid_request", `weave_ref "${ref}" has a broken percent escape`)
  }
}
