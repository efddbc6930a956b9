import type { z } from "zod"
import { HeddleError } from "../../errors.ts"

/** The input of a mutation. @throws {HeddleError} `bad_request` that names the mutation and the member. */
export function checkedInput<T extends z.ZodType>(mutation: string, schema: T, input: unknown): z.output<T> {
  const { success, data, error } = schema.safeParse(input ?? {})
  if (success) return data
  const [issue] = error.issues
  throw new HeddleError(
    "bad_request",
    `${mutation}: ${issue?.path.join(".") ?? "input"}: ${issue?.message ?? "not valid"}`,
  )
}
