/** Name and outcome of a call. */
import type { Call } from "../api/calls/calls.ts"
import type { StatusKind } from "../components/signs/status.tsx"
import { timeOf } from "./call-time.ts"

const opRef = /^weave:\/\/\/[^/]+\/[^/]+\/(?:op|object)\/([^/:]+):/

/** The display name, else the op's without its place and version. */
export function callName({ display_name, op_name }: Pick<Call, "display_name" | "op_name">): string {
  return display_name ?? opRef.exec(op_name)?.[1] ?? op_name
}

export function callStatus({ exception, ended_at }: Pick<Call, "exception" | "ended_at">): StatusKind {
  if (exception != null) return "error"
  return ended_at == null ? "running" : "ok"
}

/** Milliseconds; null: it runs still. */
export function callDuration({ started_at, ended_at }: Pick<Call, "started_at" | "ended_at">): number | null {
  return ended_at == null ? null : timeOf(ended_at) - timeOf(started_at)
}

interface SentException {
  type?: unknown
  message?: unknown
}

/**
 * "ValueError: no such order": what an exception says. The Weave SDKs write JSON, whose message may have several lines; other
 * clients a sentence or a traceback, whose last line says what happened.
 */
export function exceptionLine(exception: string): string {
  try {
    const { type, message } = JSON.parse(exception) as SentException
    if (typeof message === "string") return typeof type === "string" ? `${type}: ${message}` : message
  } catch {
    // No JSON: a text.
  }
  return exception.trim().split("\n").at(-1) ?? exception
}
