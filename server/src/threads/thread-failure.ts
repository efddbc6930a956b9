/** Errors of a task on their way between threads, where a clone would lose what kind they are. */
import { type ErrorCode, type ErrorDetails, HeddleError } from "../errors.ts"
import { JsonTextError, type JsonTextErrorKind } from "../json/json-text-error.ts"

export type ThreadFailure =
  | { kind: "refused"; code: ErrorCode; message: string; details: Omit<ErrorDetails, "cause"> }
  | { kind: "not_json"; reason: JsonTextErrorKind; message: string }
  | { kind: "broken"; stack: string }

export function failureOf(error: unknown): ThreadFailure {
  if (error instanceof HeddleError) {
    const { cause: _, ...details } = error.details
    return { kind: "refused", code: error.code, message: error.message, details }
  }
  if (error instanceof JsonTextError) return { kind: "not_json", reason: error.kind, message: error.message }
  return { kind: "broken", stack: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

export function errorOf(failure: ThreadFailure): Error {
  if (failure.kind === "refused") return new HeddleError(failure.code, failure.message, failure.details)
  if (failure.kind === "not_json") return new JsonTextError(failure.reason, failure.message)
  return new Error(`a task on another thread failed: ${failure.stack}`)
}
