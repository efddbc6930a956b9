/** Answers that must be a success for a test to go on. */
import type { z } from "zod"

interface AnyAnswer {
  status: number
  body?: unknown
  text?: string
}

/** The answer. @throws {Error} with what the server said, when the status is not 200. */
export async function must<Answer extends AnyAnswer>(sent: Promise<Answer>): Promise<Answer> {
  return succeeded(await sent)
}

/** The body of the answer. @throws {Error} as {@link must}. */
export async function mustBody<Body>(sent: Promise<AnyAnswer>): Promise<Body> {
  return (await must(sent)).body as Body
}

/** The answer's body, which must have exactly the fields of the schema. @throws {Error} also when the status is not 200. */
export function strictly<T extends z.ZodObject>(schema: T, answer: AnyAnswer): z.output<T> {
  return schema.strict().parse(succeeded(answer).body) as z.output<T>
}

function succeeded<Answer extends AnyAnswer>(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text ?? JSON.stringify(answer.body)}`)
  return answer
}
