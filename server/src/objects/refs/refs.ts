/** References to things of the evaluation store: evaluation-store-objects 12. */
import { HeddleError } from "../../errors.ts"
import type { VersionName } from "../../storage/catalog/objects/object-reads.ts"

export type RefKind = "object" | "op" | "call" | "table"

/** `index` is a position in a list, `id` the digest of a table's row, `attr` and `key` name a member. */
export interface RefStep {
  edge: "attr" | "key" | "index" | "id"
  value: string
}

export interface Ref {
  /** `entity/project`. */
  project: string
  kind: RefKind
  /** Name of an object or op, id of a call, or digest of a table. */
  name: string
  /** Digest, `latest`, `v<index>` or alias of an object or op; empty for other kinds. */
  version: string
  steps: RefStep[]
}

export const refPrefix = "weave:///"
export const internalRefPrefix = "weave-trace-internal:///"

/** A ref, or, for an empty name, what all refs of the kind begin with. `project`: `entity/project`. */
export function formatRef(project: string, kind: RefKind, name: string, version?: string): string {
  return `${refPrefix}${project}/${kind}/${name}${version === undefined ? "" : `:${version}`}`
}

/** By which the catalog knows what a ref of an object or op names. */
export function versionNameOf({ kind, name, version }: Ref): VersionName {
  return { objectId: name, version, preferred: kind === "op" ? "op" : "object" }
}

/** @throws {HeddleError} `value_error`, for an internal ref `invalid_external_ref`. */
export function parseRef(text: string): Ref {
  if (text.startsWith(internalRefPrefix)) {
    throw new HeddleError(
      "invalid_external_ref",
      `"${text}" is an internal ref; name the project as ${refPrefix}<entity>/<project>/…`,
    )
  }
  const ref = tryParseRef(text)
  if (ref !== null) return ref
  throw new HeddleError(
    "value_error",
    `"${text}" is not a ref: ${refPrefix}<entity>/<project>/object/<name>:<version>, or op, call or table`,
  )
}

/** null: no ref, or a broken one. */
export function tryParseRef(text: string): Ref | null {
  if (!text.startsWith(refPrefix)) return null
  const [entity, project, kind, ...tail] = text.slice(refPrefix.length).split("/")
  if (!entity || !project || !tail[0]) return null
  const at = { project: `${entity}/${project}` }
  if (kind === "call" || kind === "table") return thingRef(at.project, kind, tail)
  if (kind !== "object" && kind !== "op") return null
  const [name, version, ...more] = tail[0].split(":")
  const steps = stepsOf(tail.slice(1))
  if (!name || !version || more.length > 0 || steps === null) return null
  return { ...at, kind, name, version, steps }
}

/** @throws {HeddleError} `invalid_request` when `text` is no ref of one of these kinds. */
export function checkRef(text: string, field: string, kinds: readonly RefKind[]): Ref {
  const ref = tryParseRef(text)
  if (ref !== null && kinds.includes(ref.kind)) return ref
  const form = kinds.map((kind) => (kind === "call" ? "call/<id>" : `${kind}/<name>:<version>`)).join(" or ")
  throw new HeddleError("invalid_request", `${field} "${text}" is not a ref ${refPrefix}<entity>/<project>/${form}`)
}

function thingRef(project: string, kind: "call" | "table", [name = "", ...tail]: string[]): Ref | null {
  const steps = stepsOf(tail)
  return steps === null ? null : { project, kind, name, version: "", steps }
}

/** Edges and values in turn; values are percent-encoded. */
function stepsOf(parts: string[]): RefStep[] | null {
  if (parts.length === 1 && parts[0] === "") return []
  if (parts.length % 2 !== 0) return null
  const steps: RefStep[] = []
  for (let at = 0; at < parts.length; at += 2) {
    const edge = parts[at] as string
    const value = decoded(parts[at + 1] as string)
    if (!isEdge(edge) || value === null || (edge === "index" && !/^[-+]?\d{1,15}$/.test(value))) return null
    steps.push({ edge, value })
  }
  return steps
}

function isEdge(text: string): text is RefStep["edge"] {
  return text === "attr" || text === "key" || text === "index" || text === "id"
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
