/** A recorded chat as the conversation to go on with: what was answered stands in the first column. */
import type { Call } from "../../../api/calls/calls.ts"
import type { Conversation } from "../../../playground/conversation.ts"
import type { RecordedChat } from "../../../playground/recorded-chat.ts"

/** The model that was asked, and `other`, which can be asked, where that one is not here. */
export function modelsFor(
  { model }: Pick<RecordedChat, "model">,
  known: readonly string[],
  other: string | null,
): string[] {
  const others = other === null ? [] : [other]
  if (model === null) return others
  const isHere = known.includes(model) || model.includes("@") || model.startsWith("wandb-artifact:")
  return isHere ? [model] : [model, ...others]
}

export function answeredConversation(
  { prompt, tools, schema, answer }: RecordedChat,
  models: readonly string[],
  { id, trace_id, started_at, ended_at }: Pick<Call, "id" | "trace_id" | "started_at" | "ended_at">,
): Conversation {
  const [first = ""] = models
  const turn =
    answer === null
      ? null
      : {
          ...answer,
          answer: {
            state: "done" as const,
            model: first,
            callId: id,
            traceId: trace_id,
            reasoning: "",
            tokens: [],
            finish: null,
            usage: null,
            firstTokenMs: null,
            totalMs: ended_at == null ? null : Date.parse(ended_at) - Date.parse(started_at),
            failure: null,
          },
        }
  const columns = models.map((model, index) => ({ model, turns: index === 0 && turn !== null ? [turn] : [] }))
  return { prompt, tools, schema, columns }
}
