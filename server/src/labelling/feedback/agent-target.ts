/** The turns and conversations of agents that feedback may be about: evaluation-store-objects 12. */
import { HeddleError } from "../../errors.ts"

/** The turn or conversation in a ref such as `weave:///e/p/agent_turn/<trace id>`; null for other refs. */
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
