/** Which rollout a request belongs to, as its headers and its body say. */
import type { IncomingHttpHeaders } from "node:http"
import { HeddleError } from "../errors.ts"
import { isJsonObject } from "../json/parsed-json.ts"

export interface RolloutMark {
  rolloutId: string
  /** The question that the rollout answers; rollouts of one group are compared. */
  groupId: string | null
  traceId: string | null
  spanId: string | null
  /** Id of the enclosing Weave call. */
  callId: string | null
  /** false: it is named by its trace, whose client need not know of rollouts. */
  isNamed: boolean
}

const rolloutHeader = "x-heddle-rollout-id"
const groupHeader = "x-heddle-rollout-group"
/** The Weave call that encloses the request. */
const callHeader = "x-heddle-call-id"

/** Visible ASCII, as it stands in a header and in an address, without what parts an address. */
const name = /^(?!\.{1,2}$)[!"$&-.0->@-[\]-~]{1,128}$/
const traceparent = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}/

/** null: it belongs to none. @throws {HeddleError} 400 for a name that cannot be one, and for two that differ. */
export function rolloutMark(headers: IncomingHttpHeaders, body: Record<string, unknown>): RolloutMark | null {
  const metadata = objectOf(body["metadata"])
  const [, traceId = null, spanId = null] = traceparent.exec(headerOf(headers, "traceparent") ?? "") ?? []
  const named = oneOf(headers, rolloutHeader, metadata, "rollout_id")
  const groupId = oneOf(headers, groupHeader, metadata, "rollout_group")
  const callId = headerOf(headers, callHeader)
  if (callId !== null) requireName(callHeader, callId)
  const rolloutId = named ?? callId ?? traceId
  if (rolloutId === null) {
    if (groupId === null) return null
    throw refusal("rollout_group", `the group ${formatted(groupId)} without a rollout; send ${rolloutHeader} too`)
  }
  return { rolloutId, groupId, traceId, spanId, callId, isNamed: named !== null || callId !== null }
}

function oneOf(
  headers: IncomingHttpHeaders,
  header: string,
  metadata: Record<string, unknown>,
  field: string,
): string | null {
  const [fromHeader, fromBody] = [headerOf(headers, header), textOf(metadata[field], field)]
  if (fromHeader !== null) requireName(header, fromHeader)
  if (fromBody !== null) requireName(`metadata.${field}`, fromBody)
  if (fromHeader !== null && fromBody !== null && fromHeader !== fromBody) {
    const both = `the header ${header} says ${formatted(fromHeader)} and metadata.${field} says ${formatted(fromBody)}`
    throw refusal(`metadata.${field}`, `${both}; send one of them`)
  }
  return fromHeader ?? fromBody
}

function textOf(value: unknown, field: string): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === "string") return value
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value)
  throw refusal(
    `metadata.${field}`,
    `metadata.${field} is ${typeof value === "object" ? "no text" : formatted(value)}; expected a text`,
  )
}

function requireName(where: string, value: string): void {
  if (name.test(value)) return
  const message =
    `${where} is ${formatted(value)}; expected 1 to 128 letters, digits and other visible ASCII characters ` +
    "without / \\ ? # and %"
  throw refusal(where, message)
}

function refusal(param: string, message: string): HeddleError {
  return new HeddleError("invalid_request", message, { param })
}

function formatted(value: unknown): string {
  return JSON.stringify(value).slice(0, 200)
}

function headerOf(headers: IncomingHttpHeaders, header: string): string | null {
  const value = headers[header]
  const text = (Array.isArray(value) ? value[0] : value)?.trim() ?? ""
  return text === "" ? null : text
}

function objectOf(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {}
}
