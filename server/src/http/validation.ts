/** Turns zod's findings into the 422 body of training-api 1.4: `detail[].{loc, msg, type}`. */
import type { z } from "zod"
import { HeddleError, type ValidationIssue } from "../errors.ts"
import { type Finding, findingOf } from "./union-finding.ts"

const maximumIssues = 50
/** A longer text is told by its length. */
const longestShown = 100

/** @throws {HeddleError} `validation_error`; `source` is the first element of each `loc`. */
export function parse<T extends z.ZodType>(schema: T, value: unknown, source: "body" | "query" | "path"): z.output<T> {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  throw validationError(result.error.issues, source, value)
}

/** `issues`: of a parse with `reportInput`. `value`: what was parsed, where it is at hand. */
export function validationError(issues: readonly z.core.$ZodIssue[], source: string, value?: unknown): HeddleError {
  const details = issues.slice(0, maximumIssues).map((issue) => toIssue(issue, source, value))
  const first = details[0]
  const message = first === undefined ? "the request is not valid" : `${first.loc.join(".")}: ${first.msg}`
  return new HeddleError("validation_error", message, { issues: details })
}

type Checked<T> = { data: T; fault: null } | { data: null; fault: string }

/** The value, or the first thing that is wrong with it, as `place: what`. `whole`: the place of the value itself. */
export function check<T extends z.ZodType>(schema: T, value: unknown, whole: string): Checked<z.output<T>> {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return { data: result.data, fault: null }
  const [issue] = result.error.issues
  if (issue === undefined) return { data: null, fault: `${whole}: not valid` }
  const { loc, msg } = toIssue(issue, whole, value)
  return { data: null, fault: `${loc.slice(1).join(".") || whole}: ${msg}` }
}

function toIssue(issue: z.core.$ZodIssue, source: string, value: unknown): ValidationIssue {
  const finding = findingOf(issue)
  const { path, code, input } = finding
  const absent = input === undefined && absentCodes.has(code)
  return {
    loc: [source, ...path.map((part) => (typeof part === "symbol" ? String(part) : part))],
    msg: absent ? "Field required" : withReceived(finding, value),
    type: absent ? "missing" : code,
  }
}

/** What zod says of a field that is not there. */
const absentCodes: ReadonlySet<string> = new Set(["invalid_type", "invalid_value", "invalid_union"])

/** Findings of which zod tells what was expected, and not what came. */
const untold: ReadonlySet<string> = new Set([
  "invalid_value",
  "invalid_format",
  "not_multiple_of",
  "too_big",
  "too_small",
])

/** A message names the bad value (law 4). */
function withReceived(finding: Finding, value: unknown): string {
  const { code, message } = finding
  // The type alone says nothing where a number was expected and is one: 1.5 is no integer, "ten" in a query becomes NaN.
  if (code === "invalid_type" && typeof finding.input === "number") {
    const told = shown(sentFor(finding, value), false)
    return message.replace(/(expected (?:number|int), received) \w+$/, (_, before) => `${before} ${told}`)
  }
  const isUntold = untold.has(code) || message.startsWith("Invalid discriminator")
  if (!isUntold || message.includes(", received ")) return message
  const isLength = typeof finding.input === "string" && (code === "too_big" || code === "too_small")
  const told = shown(sentFor(finding, value), isLength)
  // Some messages of our own begin with it.
  return told === null || message.startsWith(`${told} `) ? message : `${message}, received ${told}`
}

/** What was sent there: zod has a number where a text was made one. */
function sentFor({ path, input }: Finding, value: unknown): unknown {
  if (typeof input !== "number") return input
  const sent = path.reduce<unknown>(
    (at, part) => (at as Record<PropertyKey, unknown> | null | undefined)?.[part],
    value,
  )
  return typeof sent === "string" && sent !== String(input) ? sent : input
}

/** null: it says nothing. `isLength`: of a text, only how long it is. */
function shown(sent: unknown, isLength: boolean): string | null {
  if (typeof sent === "string") {
    return isLength || sent.length > longestShown ? counted(sent.length, "character") : JSON.stringify(sent)
  }
  if (Array.isArray(sent)) return counted(sent.length, "item")
  return sent === null || typeof sent === "number" || typeof sent === "boolean" ? `${sent}` : null
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`
