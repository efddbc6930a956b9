/** What happened in the turns of a conversation, without what an earlier turn has said already. */
import type { ChatMessage, TraceChat } from "../../../api/agents/conversation-turns.ts"

export interface ShownTurn {
  /** From 1, in the conversation. */
  number: number
  turn: TraceChat
  messages: ChatMessage[]
}

/** Without the start of an agent in a turn where the same one, with the same model and instructions, started last. */
export function shownTurns(turns: readonly TraceChat[]): ShownTurn[] {
  let before = ""
  return turns.map((turn, index) => ({
    number: index + 1,
    turn,
    messages: turn.messages.filter((message) => {
      if (message.agent_start === null) return true
      const { agent_name, agent_version, agent_start } = message
      const start = JSON.stringify([agent_name, agent_version, agent_start.model, agent_start.system_instructions])
      const isOther = start !== before
      before = start
      return isOther
    }),
  }))
}
