/** Whose the spans and log records of a resource are: evaluation-store-calls 8. */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { type ProjectAccess, projectForWrite } from "../project-access.ts"
import type { Resource } from "./trace-request.ts"

/** Finds the projects of one request, each once. */
export class ResourceProjects {
  readonly #database: CatalogDatabase
  readonly #principal: Principal
  readonly #header: string | undefined
  readonly #found = new Map<string, Promise<ProjectAccess>>()

  /** `header`: of the request's header `project_id`, for resources that name none. */
  constructor(database: CatalogDatabase, principal: Principal, header: string | string[] | undefined) {
    this.#database = database
    this.#principal = principal
    this.#header = typeof header === "string" ? header : undefined
  }

  /** @throws {HeddleError} `bad_request` no project is named; `project_not_found`. */
  async of(resource: Resource): Promise<ProjectAccess> {
    const name = nameOf(resource, this.#principal) ?? this.#header
    if (name === undefined || name === "") throw unnamed()
    const found = this.#found.get(name) ?? projectForWrite(this.#database, this.#principal, name)
    this.#found.set(name, found)
    return found
  }
}

/** A project without an entity is one of the caller's own. */
function nameOf({ attributes }: Resource, { defaultEntity }: Principal): string | undefined {
  const text = (wanted: string) => attributes.findLast(({ key }) => key === wanted)?.value
  const [entity, project] = [text("wandb.entity"), text("wandb.project")]
  if (typeof project !== "string" || project === "") return undefined
  return `${typeof entity === "string" && entity !== "" ? entity : defaultEntity.name}/${project}`
}

function unnamed(): HeddleError {
  const message =
    'no project: set the resource attributes wandb.entity and wandb.project, or send the header "project_id: entity/project"'
  return new HeddleError("bad_request", message)
}
