/** Opens the whole server with the fake engine, and callers of the evaluation store. */
import type { Config } from "../../src/config.ts"
import { FakeEngine, type FakeHandlers, fakeTokens } from "../../src/engines/fake-engine.ts"
import type { EngineParams } from "../../src/engines/engine.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "./evaluation-app.ts"

export interface ExecutionApp extends EvaluationApp {
  fake: FakeEngine
}

export async function openExecutionApp(changes: Partial<Config> = {}): Promise<ExecutionApp> {
  const fake = new FakeEngine()
  return Object.assign(await openEvaluationApp(changes, fake), { fake })
}

type ChatParams = EngineParams<"chat">

/** A handler for chats of the fake engine, which answers with `answer(messages)`. */
export function answering(
  answer: (messages: { role: string; content: string }[]) => string,
): NonNullable<FakeHandlers["chat"]> {
  return (params: ChatParams, call) => {
    const content = answer((params.messages ?? []) as { role: string; content: string }[])
    const prompt = { prompt_token_ids: [1, 2, 3], cached_tokens: 1 }
    const tokens = fakeTokens(4)
    call.emit("start", prompt)
    if (params.stream === true) call.emit("delta", { index: 0, content, reasoning: "", tool_calls: [], tokens })
    const choice = {
      index: 0,
      content,
      reasoning: null,
      tool_calls: [],
      finish_reason: "stop",
      stop_reason: null,
      tokens: params.stream === true ? [] : tokens,
    }
    return { ...prompt, completion_tokens: tokens.length, choices: [choice] }
  }
}

export interface StoredCall {
  id: string
  op_name: string
  trace_id: string
  parent_id: string | null
  started_at: string
  ended_at: string | null
  display_name: string | null
  thread_id: string | null
  exception: string | null
  attributes: Record<string, unknown>
  inputs: Record<string, unknown>
  output: unknown
  summary: Record<string, unknown>
}

export async function callsOf(caller: EvaluationCaller, project_id: string, more: object = {}): Promise<StoredCall[]> {
  return (await caller.lines("/calls/stream_query", { project_id, ...more })) as StoredCall[]
}
