/** Turns zod's findings into the 422 body of training-api 1.4: `detail[].{loc, msg, type}`. */
import type { z } from "zod"
import { HeddleError, type ValidationIssue } from "../errors.ts"
import { findingOf } from "./union-finding.ts"

const maximumIssues = 50

/** @throws {HeddleError} `validation_error`; `source` is the first element of each `loc`. */
export function parse<T extends z.ZodType>(schema: T, value: unknown, source: "body" | "query" | "path"): z.output<T> {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  throw validationError(result.error.issues, source)
}

export function validationError(issues: readonly z.core.$ZodIssue[], source: string): HeddleError {
  const details = issues.slice(0, maximumIssues).map((issue) => toIssue(issue, source))
  const first = details[0]
  const message = first === undefined ? "the request is not valid" : `${first.loc.join(".")}: ${first.msg}`
  return new HeddleError("validation_error", message, { issues: details })
}

function toIssue(issue: z.core.$ZodIssue, source: string): ValidationIssue {
  const { path, message, code, input } = findingOf(issue)
  const absent = (code === "invalid_type" || code === "invalid_union") && input === undefined
  return {
    loc: [source, ...path.map((part) => (typeof part === "symbol" ? String(part) : part))],
    msg: absent ? "Field required" : message,
    type: absent ? "missing" : code,
  }
}
