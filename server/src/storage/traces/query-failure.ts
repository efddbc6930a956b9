/** What a failed read means to the client. */
import { HeddleError } from "../../errors.ts"
import { TraceStoreError, traceErrorCodes } from "./store/trace-store.ts"

/** A limit that was reached becomes an error of the list; anything else stays as it is. */
export function queryFailure(error: unknown): unknown {
  if (!(error instanceof TraceStoreError)) return error
  if (error.code === traceErrorCodes.timeout || error.code === traceErrorCodes.tooSlow) {
    return new HeddleError("query_timeout", "the query took too long; narrow it with a filter or a limit", {
      cause: error,
    })
  }
  if (error.code === traceErrorCodes.memory || error.code === traceErrorCodes.result) {
    return new HeddleError("query_memory", "the query needs too much memory; narrow it with a filter or a limit", {
      cause: error,
    })
  }
  return error
}

/** For the `catch` of a promise. */
export function throwQueryFailure(error: unknown): never {
  throw queryFailure(error)
}
