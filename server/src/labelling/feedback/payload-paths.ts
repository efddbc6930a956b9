/** Which values there are in payloads, and of what type: evaluation-store-objects 5. */
import type { PayloadSchemaAnswer, ValueType } from "../../wire/labelling/feedback-stats.ts"

type Seen = ValueType | null

/** Characters of all paths that are looked at: a long key may stand before any number of others. */
const mostCharacters = 32 * 1024 ** 2

/**
 * Dotted paths to the scalars of these objects, sorted. Lists, and keys that a path cannot name, are left out, and what comes
 * after {@link mostCharacters}.
 */
export function payloadPaths(payloads: Iterable<unknown>): PayloadSchemaAnswer["paths"] {
  const seen = new SeenPaths()
  for (const payload of payloads) collect(payload, "", seen)
  return [...seen.types]
    .map(([json_path, types]) => ({ json_path, value_type: commonType(types) }))
    .toSorted((a, b) => (a.json_path < b.json_path ? -1 : 1))
}

class SeenPaths {
  readonly types = new Map<string, Set<Seen>>()
  #characters = 0

  get isFull(): boolean {
    return this.#characters >= mostCharacters
  }

  add(path: string, type: Seen): void {
    this.#characters += path.length
    if (this.#characters <= mostCharacters) this.types.getOrInsertComputed(path, () => new Set()).add(type)
  }
}

function collect(value: unknown, path: string, seen: SeenPaths): void {
  if (Array.isArray(value) || seen.isFull) return
  if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (key.trim() !== "" && !/[.\\]/.test(key)) collect(member, path === "" ? key : `${path}.${key}`, seen)
    }
    return
  }
  if (path !== "") seen.add(path, typeOf(value))
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
