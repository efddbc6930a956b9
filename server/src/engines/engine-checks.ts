/** Questions to the engine other than work: whether it is available, and what it supports. */
import { HeddleError } from "../errors.ts"
import type { BaseRef } from "../wire/engine/base.ts"
import { type Engine, EngineFailure, engineStartMs } from "./engine.ts"

/** How long a request may then wait for the engine to look a model up on its hub. */
const hubLookupMs = 20_000
/** How long a dry run waits for the tokens of one row. */
const countMs = 5_000

/** Asks the engine, which may have to ask the model hub. */
export function baseCheck(engine: Engine): (base: BaseRef) => Promise<{ found: boolean } | { unsupported: string }> {
  return async (base) => {
    try {
      await engine.ready(engineStartMs)
      await engine.call("base.resolve", { base }, AbortSignal.timeout(hubLookupMs)).result
      return { found: true }
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error
      if (error.kind === "not_found") return { found: false }
      if (error.kind === "invalid") return { unsupported: error.message }
      throw new HeddleError("engine_unavailable", `cannot look up the base model "${base.name}": ${error.message}`, {
        cause: error,
      })
    }
  }
}

export async function maximumTokens(engine: Engine, base: BaseRef): Promise<number | null> {
  try {
    await engine.ready(engineStartMs)
    return (await engine.call("base.resolve", { base }, AbortSignal.timeout(hubLookupMs)).result).max_model_len
  } catch (error) {
    if (error instanceof EngineFailure) return null
    throw error
  }
}

/** Tokens of a dialogue as it is trained on; null: the engine cannot tell now. */
export async function countTokens(
  engine: Engine,
  base: BaseRef,
  { messages, tools }: { messages: { role: string }[]; tools?: Record<string, unknown>[] },
): Promise<number | null> {
  try {
    const request = { base, messages, add_generation_prompt: false, ...(tools === undefined ? {} : { tools }) }
    return (await engine.call("tokenize", request, AbortSignal.timeout(countMs)).result).token_ids.length
  } catch (error) {
    if (error instanceof EngineFailure) return null
    throw error
  }
}

/** @throws {HeddleError} `engine_unavailable` on a server that has none. */
export function requireEngine(engine: Engine): void {
  const { state, reason } = engine.status()
  if (state === "none") throw new HeddleError("engine_unavailable", reason ?? "this server runs without an engine")
}

/** For each engine of the settings, in their order, what rejects when it does not answer now. */
export function engineChecks(engine: Engine): (() => Promise<void>)[] {
  const members = engine.members()
  const asked = members.length > 0 ? members.map((member) => member.engine) : [engine]
  return asked.map((each) => () => checkEngine(each))
}

async function checkEngine(engine: Pick<Engine, "call" | "ready">): Promise<void> {
  await engine.ready(1_000)
  await engine.call("status", {}, AbortSignal.timeout(5_000)).result
}
