import { serverUrl } from "../../../base-path.ts"
import { type Conversation, smallOf, type Turn } from "../../../playground/conversation.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { projectPath } from "../../../url/project-path.ts"
import { stringifySearch } from "../../../url/search.ts"
import type { PlaygroundSearch } from "./playground-search.ts"

const isRecorded = ({ answer }: Turn) => answer != null && answer.callId !== null

/**
 * An address that opens in every browser: the small conversation itself, else the call of the newest answer of the first column
 * that has one. null: neither is there.
 */
export function linkToConversation(
  project: CurrentProject,
  conversation: Conversation,
  search: PlaygroundSearch,
): string | null {
  const small = smallOf({ ...conversation, columns: [] })
  const calls = conversation.columns.flatMap(({ turns }) => turns.findLast(isRecorded)?.answer?.callId ?? [])
  const hasMore = conversation.columns.some(({ turns }) => turns.length > 1)
  const from = calls[0] ?? search.from
  const isSmall = small !== null && !hasMore
  if (!isSmall && from === undefined) return null
  const of = isSmall ? { ...small, from: undefined } : { from }
  const keys = stringifySearch({ ...search, m: conversation.columns.map(({ model }) => model), ...of })
  return `${serverUrl}/${projectPath(project.id)}/playground${keys}`
}
