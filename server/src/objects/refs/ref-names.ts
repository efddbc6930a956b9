/**
 * Digests are made over values whose refs name projects by their internal ids, and clients may send
 * such refs (evaluation-store-objects 10, 13). Everything is stored with the refs that people see.
 */
import { HeddleError } from "../../errors.ts"
import { JsonCursor } from "../../json/json-cursor.ts"
import { JsonTextError } from "../../json/json-text-error.ts"
import { printPython, pythonJson } from "../../json/python-json.ts"
import { lookUp, checkProjectCount, type PayloadLookup } from "../payload/payload-lookups.ts"
import { internalRefPrefix, refPrefix } from "./refs.ts"

/** How far JSON inside strings is looked into, as the clients do (weave 0.54.0 `trace_server_converter.py`). */
const maximumEmbedding = 8

/** Projects that the refs of a request name, from `entity/project` to internal id and back. */
export class RefNames {
  /** By `entity/project`: the internal id; null: not there, or not the caller's. */
  readonly #ids = new Map<string, string | null>()
  /** By internal id: `entity/project`. */
  readonly #names = new Map<string, string>()
  /** Internal ids of nobody's project, or of one that the caller may not see. */
  readonly #nobodys = new Set<string>()
  readonly #unknownNames = new Set<string>()
  readonly #unknownIds = new Set<string>()
  readonly #mostProjects: number

  constructor(mostProjects: number) {
    this.#mostProjects = mostProjects
  }

  /** Has {@link resolve} look up what the text seems to name, so that it is seldom read twice. */
  expect(text: string): void {
    for (const [, entity, project] of text.matchAll(namedProject)) {
      if (this.#unknownNames.size >= this.#mostProjects) return
      const name = `${entity}/${project}`
      if (!this.#ids.has(name)) this.#unknownNames.add(name)
    }
  }

  /** Looks up what {@link expect} and {@link print} met. */
  *resolve(): Generator<PayloadLookup, void> {
    const [names, ids] = [[...this.#unknownNames], [...this.#unknownIds]]
    if (names.length === 0 && ids.length === 0) return
    const known = yield* lookUp("refs", { names, ids })
    for (const name of names) this.#ids.set(name, known.ids.get(name) ?? null)
    for (const [id, name] of known.names) this.#names.set(id, name)
    for (const id of ids) if (!known.names.has(id)) this.#nobodys.add(id)
    this.#unknownNames.clear()
    this.#unknownIds.clear()
  }

  /** The text that digests are made over; a ref to a project that the caller may not see stays as it is. */
  *canonical(text: string): Generator<PayloadLookup, string> {
    this.expect(text)
    yield* this.resolve()
    const printed = this.print(new JsonCursor(text))
    if (printed !== null) return printed
    yield* this.resolve()
    return this.print(new JsonCursor(text)) as string
  }

  /**
   * {@link canonical} of the value at the cursor; null when it names projects that {@link resolve} has to look up first.
   * @throws {HeddleError} `invalid_external_ref`: an internal id of nobody's or somebody else's; `payload_too_large`: too many projects.
   */
  print(cursor: JsonCursor): string | null {
    let known = true
    const convert = (ref: string) => {
      const internal = this.#toInternal(ref)
      known &&= internal !== null
      return internal ?? ref
    }
    const printed = printPython(cursor, { sortKeys: true, mapString: (value) => mapRefs(value, convert, 0) })
    return known ? printed : null
  }

  /** A canonicalized text with the refs that people see in the place of internal ones. */
  external(text: string): string {
    if (this.#names.size === 0) return text
    return text.replaceAll(internalRef, (ref, id: string) => {
      const name = this.#names.get(id)
      return name === undefined ? ref : `${refPrefix}${JSON.stringify(name).slice(1, -1)}`
    })
  }

  /** null: the project has to be looked up. */
  #toInternal(ref: string): string | null {
    if (ref.startsWith(internalRefPrefix)) {
      const id = ref.slice(internalRefPrefix.length).split("/", 1)[0] as string
      if (this.#names.has(id)) return ref
      if (this.#nobodys.has(id)) throw unknownProject(id)
      this.#lookUp(this.#unknownIds, id)
      return null
    }
    const [entity, project, ...tail] = ref.slice(refPrefix.length).split("/")
    if (project === undefined || tail.length === 0) return ref
    const name = `${entity}/${project}`
    const id = this.#ids.get(name)
    if (id === undefined) {
      this.#lookUp(this.#unknownNames, name)
      return null
    }
    return id === null ? ref : `${internalRefPrefix}${id}/${tail.join("/")}`
  }

  #lookUp(unknown: Set<string>, project: string): void {
    unknown.add(project)
    checkProjectCount(unknown.size, this.#mostProjects)
  }
}

function unknownProject(internalId: string): HeddleError {
  return new HeddleError(
    "invalid_external_ref",
    `the payload has an internal ref of the unknown project "${internalId}"; name projects as ${refPrefix}<entity>/<project>/…`,
  )
}

const internalRef = /weave-trace-internal:\/\/\/([A-Za-z0-9+=]+)(?=\/)/g
/** Also within JSON that a string holds, where slashes may be escaped. */
const namedProject = /weave:(?:\\*\/){3}([^\s"\\/]+)\\*\/([^\s"\\/]+)(?=\\*\/)/g

/** Applies `convert` to a string that is a ref, and to the refs in JSON that a string holds. */
function mapRefs(value: string, convert: (ref: string) => string, embedding: number): string {
  if (value.startsWith(refPrefix) || value.startsWith(internalRefPrefix)) return convert(value)
  if (embedding === maximumEmbedding || !(value.includes(refPrefix) || value.includes(internalRefPrefix))) return value
  let changed = false
  const mapString = (inner: string) => {
    const mapped = mapRefs(inner, convert, embedding + 1)
    changed ||= mapped !== inner
    return mapped
  }
  try {
    const printed = pythonJson(value, { sortKeys: false, mapString })
    return changed ? printed : value
  } catch (error) {
    if (error instanceof JsonTextError) return value
    throw error
  }
}
