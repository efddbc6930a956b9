/** Failures of the engine at exports and imports of checkpoints, as their clients see them. */
import { HeddleError } from "../errors.ts"
import type { EngineFailure } from "./engine.ts"

/** `what`: "the export". */
export function toTransferError(failure: EngineFailure, what: string): HeddleError {
  const { kind, message, param } = failure
  const details = { cause: failure, ...(param === null ? {} : { param }) }
  switch (kind) {
    case "invalid":
    case "not_found":
      return new HeddleError("invalid_request", message, details)
    case "out_of_memory":
      return new HeddleError("engine_overloaded", `the engine is out of memory: ${message}`, details)
    case "disk_full":
      return new HeddleError("insufficient_storage", message, details)
    case "cancelled":
    case "unavailable":
      return new HeddleError("engine_unavailable", `${what} was broken off, try it again: ${message}`, details)
    case "internal":
      return new HeddleError("internal_error", `${what} failed in the engine: ${message}`, details)
  }
}
