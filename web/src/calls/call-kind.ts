/** Kind of work of a call, from the name of its operation: picks its sign and the colour of its bar. */

export type CallKind = "llm" | "tool" | "retrieval" | "embedding" | "agent" | "scorer" | "function"

/** The first that fits. Names are those of SDKs and of common practice; what fits none is a function. */
const patterns: readonly [CallKind, RegExp][] = [
  ["embedding", /embed/i],
  ["llm", /chat|complet|openai|anthropic|gemini|mistral|litellm|llm|generate_?content|responses\.create/i],
  ["retrieval", /retriev|search|rerank|vector|lookup_doc/i],
  ["scorer", /(?:^|[./])(?:score|scorer|judge|grade)/i],
  ["agent", /agent|handle_|workflow|crew|invoke_agent/i],
  ["tool", /tool|function_call|^execute_/i],
]

const opRef = /^weave:\/\/\/[^/]+\/[^/]+\/(?:op|object)\/([^/:]+):/

export function kindOfCall(opName: string): CallKind {
  const name = opRef.exec(opName)?.[1] ?? opName
  return patterns.find(([, pattern]) => pattern.test(name))?.[0] ?? "function"
}
