/** Whose request it is: the project of the `OpenAI-Project` header, of the model, or the default one (inference-api 1). */
import { can, type Membership, ownTeam, requireRightIn } from "../access/can.ts"
import { ensureProjectWithoutRoom, type ProjectCaller } from "../access/project-access.ts"
import { HeddleError } from "../errors.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { findProject } from "../storage/catalog/accounts/projects.ts"
import { workForTeam } from "../work/work-scope.ts"
import type { NamedProject } from "./model-directory.ts"

export interface Caller extends ProjectCaller {
  apiKeyId: string
  defaultEntity: Membership
}

export interface HeaderProject extends NamedProject {
  projectId: string
}

const defaultProject = "default"

export class Attribution {
  readonly #database: CatalogDatabase

  constructor(database: CatalogDatabase) {
    this.#database = database
  }

  /** null without the header. @throws {HeddleError} 401 when it names nothing of the caller's. */
  async headerProject(header: string | undefined, caller: Caller): Promise<HeaderProject | null> {
    if (header === undefined || header.trim() === "") return null
    const [entity = "", project = "", ...rest] = header.trim().split("/")
    const member = ownTeam(caller, entity)
    if (member === undefined || project === "" || rest.length > 0) throw wrongProject(header)
    workForTeam(member.id)
    const projectId = await findProject(this.#database, member.id, project)
    if (projectId === null || !can(caller, "read", { id: projectId, entityId: member.id })) throw wrongProject(header)
    requireRightIn(caller, projectId, { entity, project })
    return { entity, project, projectId }
  }

  async defaultProjectId(caller: Caller): Promise<string> {
    const name = `${caller.defaultEntity.name}/${defaultProject}`
    return (await ensureProjectWithoutRoom(this.#database, caller, name)).id
  }
}

function wrongProject(header: string): HeddleError {
  const message =
    `the header OpenAI-Project names "${header}", which is no project that your key may use; ` +
    "write <entity>/<project> of a project that exists (registering a model or POST /v1/projects makes one), or leave the header out"
  return new HeddleError("invalid_api_key", message)
}
