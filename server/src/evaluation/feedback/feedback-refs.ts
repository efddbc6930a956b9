/** The refs that feedback carries: evaluation-store-objects 12. */
import { HeddleError } from "../../errors.ts"
import { type Ref, type RefKind, refPrefix, tryParseRef } from "../refs/refs.ts"

/** @throws {HeddleError} `invalid_request` when `text` is no ref of one of these kinds. */
export function checkRef(text: string, field: string, kinds: readonly RefKind[]): Ref {
  const ref = tryParseRef(text)
  if (ref !== null && kinds.includes(ref.kind)) return ref
  const form = kinds.map((kind) => (kind === "call" ? "call/<id>" : `${kind}/<name>:<version>`)).join(" or ")
  throw new HeddleError("invalid_request", `${field} "${text}" is not a ref ${refPrefix}<entity>/<project>/${form}`)
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
