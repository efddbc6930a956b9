import { expect, test } from "vitest"
import type { TraceChat } from "../../../api/agents/conversation-turns.ts"
import { shownTurns } from "./turn-messages.ts"

const start = (agent_name: string, system_instructions: string) => ({
  type: "agent_start",
  agent_name,
  agent_version: "1",
  agent_start: { model: null, system_instructions, tool_definitions: null, status: null },
})
const question = { type: "user_message", agent_start: null, user_message: { text: "Hello?", content_refs: [] } }
const turn = (...messages: object[]) => ({ messages }) as unknown as TraceChat

test("an agent that starts as it did in the turn before is not shown again", () => {
  const turns = [
    turn(question, start("helper", "Be brief.")),
    turn(question, start("helper", "Be brief.")),
    turn(question, start("helper", "Be long."), start("writer", "Be long.")),
    turn(start("helper", "Be long.")),
  ]
  expect(shownTurns(turns).map(({ number, messages }) => [number, messages.map(({ type }) => type)])).toEqual([
    [1, ["user_message", "agent_start"]],
    [2, ["user_message"]],
    [3, ["user_message", "agent_start", "agent_start"]],
    [4, ["agent_start"]],
  ])
})
