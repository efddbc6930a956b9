/** The whole server with the scripted engine, and callers of the evaluation store. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { type App, createApp } from "../../src/app.ts"
import type { Config } from "../../src/config.ts"
import { SupervisedEngine } from "../../src/engines/engine-process.ts"
import { FakeEngine, type FakeHandlers, fakeTokens } from "../../src/engines/fake-engine.ts"
import type { EngineParams } from "../../src/engines/engine.ts"
import { copyCatalogTemplate } from "./catalog-template.ts"
import { type EvaluationCaller, evaluationCaller } from "./evaluation-app.ts"
import { addTenant, adminKey, callerOf, testConfig } from "./training-app.ts"

export interface ExecutionApp {
  app: App
  fake: FakeEngine
  /** Two tenants that share nothing. */
  acme: EvaluationCaller
  rival: EvaluationCaller
  /** Closes the server and starts it again on the same data. */
  restart: (drainMs?: number) => Promise<void>
  close: () => Promise<void>
}

export async function openExecutionApp(changes: Partial<Config> = {}): Promise<ExecutionApp> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-test-"))
  await copyCatalogTemplate(dataDir)
  const config: Config = { ...testConfig(dataDir), ...changes }
  const fake = new FakeEngine()
  const start = () => createApp(config, new SupervisedEngine({ launch: fake.launch, log: silent, backOffMs: () => 0 }))
  let app = await start()
  const admin = callerOf(app, adminKey, config.entity)
  const [acme, rival] = [await addTenant(app, admin, "acme"), await addTenant(app, admin, "rival")]
  return {
    get app() {
      return app
    },
    fake,
    acme: evaluationCaller(() => app, acme),
    rival: evaluationCaller(() => app, rival),
    restart: async (drainMs) => {
      await app.close(drainMs)
      app = await start()
    },
    close: async () => {
      await app.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const silent = { info: () => undefined, warn: () => undefined }

type ChatParams = EngineParams<"chat">

/** Makes the engine answer every chat with what `answer` makes of its messages. */
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
