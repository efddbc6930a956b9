/** Whose the spans and log records of a resource are: evaluation-store-calls 8. */
import { HeddleError } from "../../errors.ts"
import { type AnswerTo, lookUp, type PayloadLookup } from "../../objects/payload/payload-lookups.ts"
import type { ResourceNaming, SpanOwner } from "./otlp/otlp-input.ts"
import type { Resource } from "./trace-request.ts"

/** Finds the projects of one request, each once. */
export class ResourceOwners {
  readonly #naming: ResourceNaming
  #found: AnswerTo<"owners"> = new Map()

  constructor(naming: ResourceNaming) {
    this.#naming = naming
  }

  /** Looks up the projects of these resources; with `make` those are made that are not there and that the caller may make. */
  *find(resources: readonly Resource[], make: boolean): Generator<PayloadLookup, void> {
    const names = new Set(resources.flatMap((resource) => this.#nameOf(resource) ?? []))
    const unknown = [...names].filter((name) => {
      const found = this.#found.get(name)
      return found === undefined || ("id" in found && found.id === null)
    })
    if (unknown.length > 0)
      this.#found = new Map([...this.#found, ...(yield* lookUp("owners", { names: unknown, make }))])
  }

  /** @throws {HeddleError} `bad_request` no project is named; `project_not_found`. */
  of(resource: Resource): SpanOwner {
    const name = this.#nameOf(resource)
    if (name === null) throw unnamed()
    const found = this.#found.get(name)
    if (found === undefined || ("id" in found && found.id === null)) throw new Error(`nobody looked for ${name}`)
    if ("code" in found) throw new HeddleError(found.code, found.message)
    return { id: found.id as string, name, userId: this.#naming.userId }
  }

  /** A project without an entity is one of the caller's own. */
  #nameOf({ attributes }: Resource): string | null {
    const text = (wanted: string) => attributes.findLast(({ key }) => key === wanted)?.value
    const [entity, project] = [text("wandb.entity"), text("wandb.project")]
    if (typeof project !== "string" || project === "") return this.#naming.header || null
    return `${typeof entity === "string" && entity !== "" ? entity : this.#naming.defaultEntity}/${project}`
  }
}

function unnamed(): HeddleError {
  const message =
    'no project: set the resource attributes wandb.entity and wandb.project, or send the header "project_id: entity/project"'
  return new HeddleError("bad_request", message)
}
