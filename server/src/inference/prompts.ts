/** Texts and token ids in every form that clients send, and asking about several of them at once: inference-api 1. */

export interface Prompt {
  prompt?: string
  prompt_token_ids?: number[]
}

/** One for each text, or list of token ids. */
export function toPrompts(given: string | string[] | number[] | number[][]): Prompt[] {
  if (typeof given === "string") return [{ prompt: given }]
  if (typeof given[0] === "number") return [{ prompt_token_ids: given as number[] }]
  return (given as (string | number[])[]).map((each) =>
    typeof each === "string" ? { prompt: each } : { prompt_token_ids: each },
  )
}

// Several questions of one request to the engine, some at a time.

/**
 * The answers in the order of `items`. When one fails, the others are cancelled, as their answer would go nowhere, and
 * waited for, so that what they have used is counted.
 */
export async function askAll<Item, Answer>(
  items: readonly Item[],
  atOnce: number,
  signal: AbortSignal,
  ask: (item: Item, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer[]> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const answers: Answer[] = []
  const next = items.entries()
  const answerOneByOne = async () => {
    for (const [place, item] of next) {
      either.throwIfAborted()
      answers[place] = await ask(item, either)
    }
  }
  const running = Array.from({ length: atOnce }, answerOneByOne)
  try {
    await Promise.all(running)
    return answers
  } finally {
    over.abort()
    await Promise.allSettled(running)
  }
}
