/** The conversation that Logfire's span around a run of the OpenAI Agents SDK tells: evaluation-store-calls 8. */
import { firstFound, pathsOf, textOf } from "./attribute-lookup.ts"
import { type AttributeTree, attributeTree } from "./attribute-tree.ts"

/** Only beside this id of the SDK does `group_id` mean a conversation. */
const tracePaths = pathsOf(["agent_trace_id"])
const groupPaths = pathsOf(["group_id"])

/** As one more tree, under the name by which others send it. */
export function heldConversation(trees: readonly AttributeTree[]): AttributeTree[] {
  if (firstFound(trees, tracePaths) === null) return []
  const group = textOf(firstFound(trees, groupPaths))
  // Logfire writes what is not given as JSON.
  return group === null || group === "null" ? [] : [attributeTree([{ key: "gen_ai.conversation.id", value: group }])]
}
