/** Fields beside `trajectory_groups` in a body, checked after the groups were read. */
import type { z } from "zod"
import { HeddleError } from "../../errors.ts"
import { validationError } from "../../http/validation.ts"
import type { ReadTrajectories } from "./trajectory-messages.ts"

/** @throws {HeddleError} 422 with what is wrong in the fields and in the groups together. */
export function checkedFields<T extends z.ZodType>(schema: T, data: ReadTrajectories): z.output<T> {
  const fields = schema.safeParse(data.fields, { reportInput: true })
  if (fields.success && data.issues.length === 0) return fields.data
  const ofFields = fields.success
    ? []
    : (validationError(fields.error.issues, "body", data.fields).details.issues ?? [])
  const isObject = data.issues.every((issue) => issue.loc.length > 1)
  const issues = [...(isObject ? ofFields : []), ...data.issues]
  const message = issues.map((issue) => `${issue.loc.join(".")}: ${issue.msg}`)[0] ?? "the request is not valid"
  throw new HeddleError("validation_error", message, { issues })
}
