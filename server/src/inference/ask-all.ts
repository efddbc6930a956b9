/** Several questions of one request to the engine, some at a time. */

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
  const askOneByOne = async () => {
    for (const [place, item] of next) {
      either.throwIfAborted()
      answers[place] = await ask(item, either)
    }
  }
  const asked = Array.from({ length: atOnce }, askOneByOne)
  try {
    await Promise.all(asked)
    return answers
  } finally {
    over.abort()
    await Promise.allSettled(asked)
  }
}
