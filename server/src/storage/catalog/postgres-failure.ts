/** Which failures of PostgreSQL, embedded or not, are no fault of the statement, and what they mean to the client. */
import pg from "pg"
import { diskFull, HeddleError, saysDiskFull } from "../../errors.ts"

const retryAfterMs = 2_000

/**
 * SQLSTATEs: connection exceptions (class 08), shutdown (57P01), crash (57P02), start-up (57P03), dropped
 * database (57P04), idle session ended (57P05), too many connections (53300), and a server that became
 * a standby under our connection (25006).
 */
const awayStates = /^(08...|57P0[1-5]|53300|25006)$/
const networkCodes = /^(ECONN|EPIPE$|ETIMEDOUT$|EHOST|ENET|ENOTFOUND$|EAI_)/
/** pg has no code for these. */
const brokenConnection = /^Connection terminated|not queryable/

/** Whether a query failed since the server is away, not since the query is wrong. */
export function saysAway(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return awayStates.test(error.code ?? "")
  const { code = "", message = "" } = error as { code?: string; message?: string }
  return networkCodes.test(code) || brokenConnection.test(message)
}

/** A failed statement for which the disk had no room fails with `insufficient_storage`; others as they did. */
export function withFullDisk(failure: unknown): unknown {
  const { code } = failure as { code?: unknown }
  return saysDiskFull(code) ? diskFull(failure) : failure
}

/** Nothing of the statement was stored. */
export function catalogAway(cause: unknown): HeddleError {
  const message = "the catalog (PostgreSQL) cannot be reached; try again a little later"
  return new HeddleError("catalog_unavailable", message, { retryAfterMs, cause })
}

/** The server may have stored the change before its answer was lost. A client must look, not repeat. */
export function outcomeUnknown(cause: unknown): HeddleError {
  const message =
    "the connection to the catalog (PostgreSQL) broke while a change was being stored, and nobody knows whether " +
    "it was. Look whether it is there before you send it again"
  return new HeddleError("outcome_unknown", message, { retryAfterMs, headers: { "x-should-retry": "false" }, cause })
}
