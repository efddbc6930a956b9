/** Meaning of ClickHouse's error codes, embedded or on a server. */
import { diskFull, type ErrorCode, HeddleError } from "../../../errors.ts"
import { TraceStoreError } from "./trace-store.ts"

interface Meaning {
  code: ErrorCode
  message: string
}

const tooLong: Meaning = {
  code: "query_timeout",
  message: "the query took too long; narrow it with a filter or a limit",
}
const tooMuchMemory: Meaning = {
  code: "query_memory",
  message: "the query needs too much memory; narrow it with a filter or a limit",
}
const tooComplex: Meaning = { code: "bad_query", message: "the query expression is too complex" }

/** By number of ClickHouse's `ErrorCodes.cpp`. */
const meanings = new Map<number | null, Meaning>([
  // CANNOT_PARSE_ESCAPE_SEQUENCE: half a surrogate pair in a text that is no payload, such as an id.
  [25, { code: "value_error", message: "a text of the request is not well-formed Unicode" }],
  // TIMEOUT_EXCEEDED, TOO_SLOW
  [159, tooLong],
  [160, tooLong],
  // TOO_DEEP_AST, TOO_BIG_AST, TOO_DEEP_RECURSION
  [167, tooComplex],
  [168, tooComplex],
  [306, tooComplex],
  // MEMORY_LIMIT_EXCEEDED, TOO_MANY_ROWS_OR_BYTES
  [241, tooMuchMemory],
  [396, tooMuchMemory],
])

/** ClickHouse's number for a disk without room for what it is about to write, and what systems say of a full one. */
const notEnoughSpace = 243
const noSpaceLeft = /no space left on device|disk quota exceeded/i

/** Errors of the list are the request's fault, or a full disk. All others are the server's own. */
export function storeFailure(message: string, number: number | null, cause: unknown): HeddleError | TraceStoreError {
  if (number === notEnoughSpace || noSpaceLeft.test(message)) return diskFull(cause)
  const meaning = meanings.get(number)
  if (meaning === undefined) return new TraceStoreError(message, number, cause)
  return new HeddleError(meaning.code, meaning.message, { cause })
}

/** Whether a smaller part of the same rows may be read. */
export function needsLessMemory(error: unknown): boolean {
  return error instanceof HeddleError && error.code === "query_memory"
}

/** For `catch`. */
export function nullWhenTooLarge(error: unknown): null {
  if (needsLessMemory(error)) return null
  throw error
}
