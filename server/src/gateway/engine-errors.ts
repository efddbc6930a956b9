/** Engine failures as the errors that a chat client sees (inference-api 7). */
import type { EngineFailure } from "../engines/engine.ts"
import { HeddleError } from "../errors.ts"

const retryAfterMs = 2_000

export function toClientError(failure: EngineFailure): HeddleError {
  const { kind, message } = failure
  // Clients call it so.
  const param = failure.param === "base_model" ? "model" : failure.param
  const details = param === null ? { cause: failure } : { param, cause: failure }
  switch (kind) {
    case "invalid":
      return new HeddleError(isTooLong(message) ? "context_length_exceeded" : "invalid_request", message, details)
    case "not_found":
      return new HeddleError("model_not_found", message, { ...details, param: "model" })
    case "out_of_memory":
      return new HeddleError("engine_overloaded", `the engine is out of memory: ${message}`, {
        ...details,
        retryAfterMs,
      })
    case "disk_full":
      return new HeddleError("insufficient_storage", message, details)
    case "cancelled":
    case "unavailable":
      return new HeddleError("engine_unavailable", message, { ...details, retryAfterMs })
    case "internal":
      return new HeddleError(
        "internal_error",
        "the engine failed on this request; the server's log has it under this request id",
        details,
      )
  }
}

/** The sentence every client of such APIs knows; the engine says it as vLLM and OpenAI do. */
function isTooLong(message: string): boolean {
  return message.startsWith("This model's maximum context length is")
}
