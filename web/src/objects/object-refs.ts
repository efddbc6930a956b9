/** Refs, by which stored values name objects, tables and calls: `weave:///entity/project/object/name:version/…`. */

export interface StoredRef {
  /** As it is written. */
  text: string
  entity: string
  project: string
  kind: "object" | "op" | "table" | "call"
  /** Digest of a table, id of a call, or name of an object. */
  name: string
  /** null: tables and calls have none. */
  version: string | null
  /** Path inside it, such as `attr/rows/id/…`; "" is the whole. */
  inside: string
}

const prefix = "weave:///"
/** A longer text is no ref. */
const longest = 4000

/** null: the text is no ref. */
export function readRef(text: string): StoredRef | null {
  if (!text.startsWith(prefix) || text.length > longest) return null
  const [entity = "", project = "", kind, place = "", ...inside] = text.slice(prefix.length).split("/")
  if (entity === "" || project === "" || place === "") return null
  const shared = { text, entity: decoded(entity), project: decoded(project), inside: inside.join("/") }
  if (kind === "table" || kind === "call") return { ...shared, kind, name: place, version: null }
  const colon = place.lastIndexOf(":")
  if ((kind !== "object" && kind !== "op") || colon < 1) return null
  return { ...shared, kind, name: decoded(place.slice(0, colon)), version: decoded(place.slice(colon + 1)) }
}

/** The refs of a JSON text, each once, in their order. */
export function refsIn(json: string): StoredRef[] {
  const found = new Map<string, StoredRef>()
  // A ref is a whole string; a text that only quotes one, or begins with one, is none. Blanks are in names of projects alone.
  for (const [, text = ""] of json.matchAll(/"(weave:\/\/\/[^"\\/]+\/[^"\\/]+\/[^"\\\s]+)"/g)) {
    const ref = readRef(text)
    if (ref !== null) found.set(text, ref)
  }
  return [...found.values()]
}

/** "returns-eval:v7", with a digest in short. */
export function refWords({ kind, name, version, inside }: StoredRef): string {
  const whole = version === null ? `${kind} ${shortDigest(name)}` : `${name}:${shortDigest(version)}`
  return inside === "" ? whole : `${whole}/${inside.replaceAll(/\b(?:attr|key|index|id)\//g, "")}`
}

/** Content digests are 43 characters long; names of versions are shorter. */
export function shortDigest(digest: string): string {
  return digest.length < 32 ? digest : `${digest.slice(0, 6)}…${digest.slice(-4)}`
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
