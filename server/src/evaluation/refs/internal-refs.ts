/**
 * Digests are made over values whose refs name projects by their internal ids, and clients may send
 * such refs (evaluation-store-objects 10, 13). Everything is stored with the refs that people see.
 */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { JsonCursor } from "../../json/json-cursor.ts"
import { JsonTextError } from "../../json/json-text-error.ts"
import { printPython, pythonJson } from "../../json/python-json.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { findProject, findProjectName, internalProjectId } from "../../storage/catalog/projects.ts"
import { internalRefPrefix, refPrefix } from "./refs.ts"

/** How far JSON inside strings is looked into, as the clients do (weave 0.54.0 `trace_server_converter.py`). */
const maximumEmbedding = 8

/** Projects that the refs of a request name, from `entity/project` to internal id and back. */
export class RefProjects {
  readonly #database: CatalogDatabase
  readonly #principal: Principal
  /** `entity/project` → internal id; null: not there, or not the caller's. */
  readonly #ids = new Map<string, string | null>()
  /** Internal id → `entity/project`. */
  readonly #names = new Map<string, string>()
  readonly #unknown = new Set<string>()

  constructor(database: CatalogDatabase, principal: Principal) {
    this.#database = database
    this.#principal = principal
  }

  /** The text that digests are made over; a ref to a project that the caller may not see stays as it is. */
  async canonical(text: string): Promise<string> {
    const printed = this.canonicalOfKnown(text)
    if (printed !== null) return printed
    await this.resolve()
    return this.canonicalOfKnown(text) as string
  }

  /** {@link canonical}, or null when the text names projects that {@link resolve} has to look up first. */
  canonicalOfKnown(text: string): string | null {
    return this.print(new JsonCursor(text))
  }

  /** {@link canonicalOfKnown} of the value at the cursor. */
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

  /** Looks up what {@link print} met. @throws {HeddleError} `invalid_external_ref`: an internal id of nobody's or somebody else's. */
  async resolve(): Promise<void> {
    for (const key of this.#unknown) {
      if (key.includes("/")) this.#ids.set(key, await this.#findId(key))
      else this.#names.set(key, await this.#findName(key))
    }
    this.#unknown.clear()
  }

  /** A canonicalized text with the refs that people see in the place of internal ones. */
  external(text: string): string {
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
      this.#unknown.add(id)
      return null
    }
    const [entity, project, ...tail] = ref.slice(refPrefix.length).split("/")
    if (project === undefined || tail.length === 0) return ref
    const name = `${entity}/${project}`
    const id = this.#ids.get(name)
    if (id === undefined) {
      this.#unknown.add(name)
      return null
    }
    return id === null ? ref : `${internalRefPrefix}${id}/${tail.join("/")}`
  }

  async #findId(name: string): Promise<string | null> {
    const [entityName, project = ""] = name.split("/")
    const entity = this.#principal.entities.find((one) => one.name === entityName)
    if (entity === undefined) return null
    const id = await findProject(this.#database, entity.id, project)
    return id === null ? null : internalProjectId(id)
  }

  async #findName(internalId: string): Promise<string> {
    const entityIds = this.#principal.entities.map((entity) => entity.id)
    const name = await findProjectName(this.#database, entityIds, internalId)
    if (name !== null) return name
    throw new HeddleError(
      "invalid_external_ref",
      `the payload has an internal ref of the unknown project "${internalId}"; name projects as ${refPrefix}<entity>/<project>/…`,
    )
  }
}

const internalRef = /weave-trace-internal:\/\/\/([A-Za-z0-9+=]+)(?=\/)/g

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
