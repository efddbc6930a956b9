/** Projects: the list of them, making one before anything is stored in it, and deleting one with all that it holds. */
import { ownTeam, requireRight } from "../access/can.ts"
import { ensureProjectWithoutRoom } from "../access/project-access.ts"
import { HeddleError } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import type { Principal } from "../http/principal.ts"
import { findEntities, type TeamRecord } from "../storage/catalog/accounts/accounts.ts"
import { audited } from "../storage/catalog/accounts/audit-logs.ts"
import { deleteProject } from "../storage/catalog/accounts/deleted-projects.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import {
  findProjectRecord,
  forgetProjects,
  listProjects,
  type ProjectRecord,
} from "../storage/catalog/accounts/projects.ts"
import { isStorable } from "../storage/catalog/storable-text.ts"
import { workForTeam } from "../work/work-scope.ts"
import {
  createProjectBody,
  deletedProject,
  namedProjectParams,
  project,
  type Project,
  projectPage,
  projectsQuery,
} from "../wire/platform/project-list.ts"
import { toPage } from "../wire/training/page.ts"

const shared = { dialect: "openai", tag: "Projects" } as const

export interface ProjectListDependencies {
  database: CatalogDatabase
  /** Called when a project was deleted: what it held is to be removed, and the work for it stopped. */
  projectDeleted: () => void
}

export function projectListRoutes({ database, projectDeleted }: ProjectListDependencies): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      path: "/v1/projects",
      access: { right: "read", of: "teams" },
      summary: "List the projects of your entities, the newest first",
      schemas: { query: projectsQuery },
      response: projectPage,
      handle: async ({ query, principal }) => {
        const entities = principal.entities.filter(({ name }) => query.entity === undefined || name === query.entity)
        const entityIds = entities.map((entity) => entity.id)
        if (query.after !== undefined && (await findProjectRecord(database, entityIds, query.after)) === null) {
          throw new HeddleError("not_found", `after: "${query.after}" is no project of yours`)
        }
        const { name = null, query: part = null, after = null } = query
        const selection = { entityIds, name, query: part, afterId: after }
        const records = await listProjects(database, { ...selection, limit: query.limit + 1 })
        return toPage(records.map(toWireProject), query.limit)
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/projects",
      access: { right: "write", of: "team body.entity", ingest: true },
      summary: "Make a project, or answer the one there is",
      schemas: { body: createProjectBody },
      response: project,
      handle: async ({ body, principal }) => {
        const entity = ownTeam(principal, body.entity)
        if (entity === undefined) {
          const yours = principal.entities.map((one) => one.name).join(", ")
          throw new HeddleError("forbidden", `you are in no entity "${body.entity}"; you are in: ${yours}`)
        }
        const { id } = await ensureProjectWithoutRoom(database, principal, `${entity.name}/${body.name}`)
        const record = await findProjectRecord(database, [entity.id], id)
        if (record === null) throw new Error(`project ${id} was made and is not there`)
        return toWireProject(record)
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/v1/projects/:entity/:project",
      access: { right: "write", of: "project path.entity/project" },
      summary: "Delete a project with all that is stored in it",
      schemas: { params: namedProjectParams },
      response: deletedProject,
      handle: async ({ params, principal }) => {
        const missing = () =>
          new HeddleError("not_found", `you have no project "${params.entity}/${params.project}", or no longer`)
        const team = await teamOf(database, principal, params.entity)
        if (team === null || !isStorable(params.project)) throw missing()
        workForTeam(team.id)
        const deleted = await audited(database, principal, async (transaction, record) => {
          const gone = await deleteProject(transaction, team.id, params.project)
          if (gone === null) throw missing()
          if (!principal.isAdmin) {
            requireRight(principal, principal.right, {
              id: gone.id,
              entityId: team.id,
              name: `${team.name}/${params.project}`,
            })
          }
          const details = { project: params.project, ...gone.counts }
          await record({ type: "project.deleted", team: team.name, resourceId: gone.id, details })
          return gone
        })
        forgetProjects(database)
        projectDeleted()
        return { id: deleted.id, object: "project", deleted: true } as const
      },
    }),
  ]
}

/** A team of the caller's; of an administrator any. null: there is none of this name. */
async function teamOf(database: CatalogDatabase, principal: Principal, name: string): Promise<TeamRecord | null> {
  const own = ownTeam(principal, name)
  if (own !== undefined || !principal.isAdmin || !isStorable(name)) return own ?? null
  const id = (await findEntities(database, [name])).get(name)
  return id === undefined ? null : { id, name }
}

export function toWireProject({ id, entity, name, createdAt, hasRuns }: ProjectRecord): Project {
  return { id, object: "project", entity, name, created_at: createdAt.toISOString(), has_runs: hasRuns }
}
