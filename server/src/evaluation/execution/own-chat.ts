/** Answers of our own models without what they hold for training: token ids, and logprobs nobody asked for. */
import { isMap } from "../objects/object-classes.ts"
import type { AdmittedChat } from "./chat-models.ts"

export function withoutTokens(chat: AdmittedChat, keepLogprobs: boolean): AdmittedChat {
  return {
    complete: async (signal) => plainAnswer(await chat.complete(signal), keepLogprobs),
    stream: (signal) => plainChunks(chat.stream(signal), keepLogprobs),
    release: chat.release,
  }
}

async function* plainChunks(batches: AsyncGenerator<string[]>, keepLogprobs: boolean): AsyncGenerator<string[]> {
  for await (const batch of batches) yield batch.map((chunk) => plainAnswer(chunk, keepLogprobs))
}

/** Of an answer or a chunk. */
function plainAnswer(text: string, keepLogprobs: boolean): string {
  const { prompt_token_ids: _prompt, ...answer } = JSON.parse(text) as Record<string, unknown>
  const { choices } = answer
  if (!Array.isArray(choices)) return text
  return JSON.stringify({
    ...answer,
    choices: choices.map((choice: unknown) => (isMap(choice) ? plainChoice(choice, keepLogprobs) : choice)),
  })
}

function plainChoice(choice: Record<string, unknown>, keepLogprobs: boolean): object {
  const { token_ids: _ids, prompt_token_ids: _prompt, logprobs, ...plain } = choice
  return keepLogprobs ? { ...plain, logprobs } : plain
}
