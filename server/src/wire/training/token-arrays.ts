/**
 * Arrays with one entry per token. A job holds millions of entries and the general schema takes
 * about a microsecond for each, so these are checked by plain loops; errors and the published
 * schema look the same.
 */
import { z } from "zod"

export interface TokenLogprob {
  token: string
  logprob: number
}

/** A certain token has 0; servers that round to 16 bits give a little more. */
const mostLogprob = 1

type Fault = { path: (string | number)[]; message: string } | null

/** Ids from 0. */
export const tokenIds = checked<number[]>(faultOfIds, {
  type: ["array", "null"],
  items: { type: "integer", minimum: 0 },
})

/** Token text and raw logprob; other keys of an entry are not looked at. */
export const tokenLogprobs = checked<TokenLogprob[]>(faultOfLogprobs, {
  type: ["array", "null"],
  items: {
    type: "object",
    required: ["token", "logprob"],
    properties: {
      token: { type: "string" },
      logprob: { type: "number" },
      bytes: { type: ["array", "null"], items: { type: "integer" } },
      top_logprobs: { type: "array" },
    },
  },
})

/** Log-probabilities alone; null where one is missing. */
export const logprobValues = checked<(number | null)[]>(faultOfValues, {
  type: ["array", "null"],
  items: { type: ["number", "null"] },
})

function checked<T>(faultOf: (value: unknown[]) => Fault, document: Record<string, unknown>) {
  const schema = z.unknown().superRefine((value, context) => {
    if (value === null || value === undefined) return
    const fault = Array.isArray(value) ? faultOf(value) : { path: [], message: "expected an array" }
    if (fault !== null) context.addIssue({ code: "custom", ...fault })
  })
  return schema.meta(document).optional() as unknown as z.ZodOptional<z.ZodType<T | null>>
}

function faultOfIds(ids: unknown[]): Fault {
  for (let index = 0; index < ids.length; index++) {
    const id = ids[index]
    if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 0) {
      return { path: [index], message: `expected a token id, a whole number from 0, received ${describe(id)}` }
    }
  }
  return null
}

function faultOfLogprobs(entries: unknown[]): Fault {
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]
    if (typeof entry !== "object" || entry === null) {
      return { path: [index], message: `expected an object, received ${describe(entry)}` }
    }
    const { token, logprob } = entry as Partial<Record<string, unknown>>
    if (typeof token !== "string")
      return { path: [index, "token"], message: `expected a string, received ${describe(token)}` }
    if (typeof logprob !== "number" || !isLogprob(logprob)) {
      return { path: [index, "logprob"], message: `expected ${aLogprob}, received ${describe(logprob)}` }
    }
  }
  return null
}

function faultOfValues(values: unknown[]): Fault {
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    if (value !== null && (typeof value !== "number" || !isLogprob(value))) {
      return { path: [index], message: `expected ${aLogprob}, or null, received ${describe(value)}` }
    }
  }
  return null
}

const aLogprob = "a finite number, the logarithm of a probability and so at most 0"

function isLogprob(value: number): boolean {
  return Number.isFinite(value) && value <= mostLogprob
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing"
  if (typeof value === "number") return String(value)
  return JSON.stringify(value).slice(0, 60)
}
