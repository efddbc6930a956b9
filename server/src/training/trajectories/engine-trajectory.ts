/** A trajectory as the engine reads it (`specTrajectory`): only what training needs. */
import type { SpecTrajectory } from "../../wire/engine/train.ts"
import type { Choice, History } from "../../wire/training/trajectory.ts"
import type { OneTrajectory } from "./trajectory-body.ts"

type SpecHistory = SpecTrajectory["histories"][number]
type SpecItem = SpecHistory["items"][number]

type Read = Pick<OneTrajectory, "group" | "index" | "trajectory" | "captured">

export function toEngineTrajectory({ group, index, trajectory, captured }: Read): SpecTrajectory {
  const { reward } = trajectory
  if (captured !== null) return { group, index, reward, histories: [], captured }
  const main = { messages_and_choices: trajectory.messages_and_choices, tools: trajectory.tools }
  const histories = [main, ...trajectory.additional_histories].map(toEngineHistory)
  return { group, index, reward, histories }
}

function toEngineHistory(history: Pick<History, "messages_and_choices" | "tools">): SpecHistory {
  return {
    items: history.messages_and_choices.map(toEngineItem),
    tools: history.tools?.map(wrapTool) ?? null,
  }
}

function toEngineItem(item: History["messages_and_choices"][number]): SpecItem {
  return "choice" in item ? { choice: toEngineChoice(item.choice) } : item
}

function toEngineChoice(choice: Choice) {
  const logprobs = choice.logprobs?.content?.map(({ token, logprob }) => ({ token, logprob })) ?? null
  return {
    message: choice.message,
    finish_reason: choice.finish_reason,
    token_ids: choice.token_ids ?? null,
    prompt_token_ids: choice.prompt_token_ids ?? null,
    logprobs,
    ledger_key: typeof choice["heddle_ledger_key"] === "string" ? choice["heddle_ledger_key"] : null,
    ledger: null,
  }
}

/** Older clients send the bare function (training-api 2.1). */
function wrapTool(tool: Record<string, unknown>): Record<string, unknown> {
  return "function" in tool ? tool : { type: "function", function: tool }
}
