/** Checks what a mutation of the wandb client brings. */
import type { z } from "zod"
import { HeddleError } from "../../errors.ts"
import { check } from "../../http/validation.ts"
import { projectName } from "../../wire/training/model.ts"

/** The input of a mutation. @throws {HeddleError} `bad_request` that names the mutation and the member. */
export function checkedInput<T extends z.ZodType>(mutation: string, schema: T, input: unknown): z.output<T> {
  const { data, fault } = check(schema, input ?? {}, "input")
  if (fault !== null) throw new HeddleError("bad_request", `${mutation}: ${fault}`)
  return data
}

/** The name of a project, in the member `member` of a mutation. @throws {HeddleError} as {@link checkedInput}. */
export function checkedProjectName(mutation: string, member: string, name: unknown): string {
  const { data, fault } = check(projectName, name, member)
  if (fault !== null) throw new HeddleError("bad_request", `${mutation}: ${fault}`)
  return data
}
