/** From the engine's choices to what is kept of them; in a stream the deltas carry the tokens. */
import type { SampledChoice } from "../../gateway/completion-record.ts"
import type { ChatEvent } from "../../gateway/gateway.ts"
import type { ChatChoice, TokenLogprob } from "../../wire/engine/chat.ts"

export function toSampled(
  choice: ChatChoice,
  tokens: readonly TokenLogprob[],
  promptTokenIds: readonly number[],
): SampledChoice {
  const { index, content, reasoning, tool_calls, finish_reason: finishReason } = choice
  return { index, promptTokenIds, tokens, finishReason, message: { content, reasoning, tool_calls } }
}

type Gathered = Required<Pick<ChatChoice, "content" | "reasoning" | "tool_calls">> & { tokens: TokenLogprob[] }

/** The choices assembled from a stream's events so far. */
export class StreamedChoices {
  readonly #byIndex = new Map<number, Gathered>()
  #promptTokenIds: readonly number[] = []

  add(each: ChatEvent): void {
    if (each.event === "start") {
      this.#promptTokenIds = each.data.prompt_token_ids
      return
    }
    const { index, content, reasoning, tool_calls: calls, tokens } = each.data
    const gathered = this.#byIndex.get(index) ?? { content: null, reasoning: null, tool_calls: [], tokens: [] }
    this.#byIndex.set(index, gathered)
    for (const token of tokens) gathered.tokens.push(token)
    if (content !== "") gathered.content = (gathered.content ?? "") + content
    if (reasoning !== "") gathered.reasoning = (gathered.reasoning ?? "") + reasoning
    for (const { index: place, ...call } of calls) {
      const toolCall = gathered.tool_calls[place]
      if (toolCall === undefined) gathered.tool_calls[place] = call
      else toolCall.arguments += call.arguments
    }
  }

  tokensOf(index: number): TokenLogprob[] {
    return this.#byIndex.get(index)?.tokens ?? []
  }

  /** The choices so far of a stream that broke off. */
  unfinished(): SampledChoice[] {
    return [...this.#byIndex]
      .toSorted(([one], [other]) => one - other)
      .map(([index, { tokens, content, reasoning, tool_calls: calls }]) => ({
        index,
        promptTokenIds: this.#promptTokenIds,
        tokens,
        finishReason: "",
        message: { content, reasoning, tool_calls: calls.filter(Boolean) },
      }))
  }
}
