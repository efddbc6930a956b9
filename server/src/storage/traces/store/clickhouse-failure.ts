/** Classifies failures of a ClickHouse server over HTTP: unavailable, overloaded, or refused. */
import { HeddleError } from "../../../errors.ts"
import { storeFailure } from "./store-failure.ts"
import type { TraceStoreError } from "./trace-store.ts"

const retryAfterMs = 2_000

/**
 * Numbers of ClickHouse's `ErrorCodes.cpp`: socket timeout, network error, no ZooKeeper, aborted by a
 * shutdown, table read-only for want of a keeper, all connections failed, keeper exception.
 */
const awayCodes: ReadonlySet<number> = new Set([209, 210, 225, 236, 242, 279, 999])
/** Too many queries at once, too many parts. */
const busyCodes: ReadonlySet<number> = new Set([202, 252])
const networkCodes = /^(ECONN|EPIPE$|ETIMEDOUT$|EHOST|ENET|ENOTFOUND$|EAI_|ERR_STREAM_PREMATURE_CLOSE$)/
/** The client has no code for a server that says nothing, or that ends its answer in the middle. */
const silent = /^(Timeout error\.|aborted|socket hang up)$/

export function clickHouseFailure(error: unknown): HeddleError | TraceStoreError {
  const { message, code } = error as { message: string; code?: string }
  const number = code === undefined || Number.isNaN(Number(code)) ? null : Number(code)
  if (number === null ? isUnreached(error, message, code) : awayCodes.has(number)) return tracesAway(error)
  if (number !== null && busyCodes.has(number)) return tracesBusy(error)
  // A host with several addresses fails with one error for each, and no message of its own.
  return storeFailure(message || (code ?? String(error)), number, error)
}

function isUnreached(error: unknown, message: string, code: string | undefined): boolean {
  return networkCodes.test(code ?? "") || silent.test(message) || isProxysAnswer(error, message, code)
}

/** True for an answer of a proxy that does not reach its server: neither ClickHouse nor the client wrote it. */
function isProxysAnswer(error: unknown, message: string, code: string | undefined): boolean {
  if (code !== undefined || !(error instanceof Error) || error.constructor !== Error) return false
  return !message.includes("DB::") && message !== "The user aborted a request."
}

function tracesAway(cause: unknown): HeddleError {
  const message = "the trace store (ClickHouse) cannot be reached; try again a little later"
  return new HeddleError("traces_unavailable", message, { retryAfterMs, cause })
}

function tracesBusy(cause: unknown): HeddleError {
  const message = "the trace store (ClickHouse) has too much to do; try again a little later"
  return new HeddleError("store_overloaded", message, { retryAfterMs, cause })
}
