/** Which values there are in payloads, and of what type: evaluation-store-objects 5. */
import type { PayloadSchemaAnswer, ValueType } from "../../wire/labelling/feedback-stats.ts"

type Seen = ValueType | null

/** Dotted paths to the scalars of these objects, sorted. Lists, and keys that a path cannot name, are left out. */
export function payloadPaths(payloads: Iterable<unknown>): PayloadSchemaAnswer["paths"] {
  const seen = new Map<string, Set<Seen>>()
  for (const payload of payloads) collect(payload, "", seen)
  return [...seen]
    .map(([json_path, types]) => ({ json_path, value_type: commonType(types) }))
    .toSorted((a, b) => (a.json_path < b.json_path ? -1 : 1))
}

function collect(value: unknown, path: string, seen: Map<string, Set<Seen>>): void {
  if (Array.isArray(value)) return
  if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (key.trim() !== "" && !/[.\\]/.test(key)) collect(member, path === "" ? key : `${path}.${key}`, seen)
    }
    return
  }
  if (path !== "") seen.set(path, (seen.get(path) ?? new Set()).add(typeOf(value)))
}

function typeOf(value: unknown): Seen {
  if (value === null) return null
  if (typeof value === "boolean") return "boolean"
  return typeof value === "number" ? "numeric" : "categorical"
}

function commonType(types: ReadonlySet<Seen>): Seen {
  const [first = null, ...others] = [...types].filter((type) => type !== null)
  return others.length === 0 ? first : "categorical"
}
