/**
 * The part of the W&B GraphQL interface that clients sign in with (objects 15.2, 15.3): who am I,
 * which projects are there, make one. Every field may be null, so that no question fails as a whole.
 */
import { buildSchema } from "graphql"
import { HeddleError } from "../errors.ts"
import type { EntityMembership, Principal } from "../http/principal.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { ensureProject, findProject, internalProjectId } from "../storage/catalog/projects.ts"
import { projectName } from "../wire/training/model.ts"

/** Inputs are scalars: one with a field that we do not know is read all the same. */
export const platformSchema = buildSchema(`
  scalar UpsertModelInput

  type Query {
    viewer: User
    project(name: String, entityName: String): Project
    model(name: String, entityName: String): Project
    entity(name: String): Entity
    serverInfo: ServerInfo
  }
  type Mutation { upsertModel(input: UpsertModelInput): UpsertModelPayload }

  type User {
    id: ID
    username: String
    name: String
    email: String
    admin: Boolean
    entity: String
    defaultEntity: Entity
    teams: TeamConnection
  }
  type TeamConnection { edges: [TeamEdge] }
  type TeamEdge { node: Entity }
  type Entity { id: ID name: String readOnly: Boolean }
  type Project { id: ID internalId: ID name: String entityName: String description: String repo: String entity: Entity }
  type UpsertModelPayload { model: Project project: Project inserted: Boolean }
  type ServerInfo { frontendHost: String }
`)

interface ProjectArguments {
  name?: string | null
  entityName?: string | null
}

/** The root fields, answering for one caller. */
export function platformResolvers(database: CatalogDatabase, principal: Principal) {
  const project = (given: ProjectArguments) => readProject(database, principal, given)
  return {
    viewer: () => describeUser(principal),
    project,
    model: project,
    entity: ({ name }: { name?: string | null }) => {
      const entity = entityOf(principal, name)
      return entity === null ? null : describeEntity(entity)
    },
    serverInfo: () => ({ frontendHost: null }),
    upsertModel: ({ input }: { input?: unknown }) => upsertProject(database, principal, input),
  }
}

function describeUser({ userId, username, isAdmin, defaultEntity, entities }: Principal) {
  return {
    id: userId,
    username,
    name: username,
    email: null,
    admin: isAdmin,
    entity: defaultEntity.name,
    defaultEntity: describeEntity(defaultEntity),
    teams: { edges: entities.map((entity) => ({ node: describeEntity(entity) })) },
  }
}

function describeEntity({ id, name }: EntityMembership) {
  return { id, name, readOnly: false }
}

function describeProject(id: string, name: string, entity: EntityMembership) {
  const internalId = internalProjectId(id)
  return {
    id: internalId,
    internalId,
    name,
    entityName: entity.name,
    description: null,
    repo: null,
    entity: describeEntity(entity),
  }
}

/** null: not one of the caller's. No name means the default one. */
function entityOf(principal: Principal, name: string | null | undefined): EntityMembership | null {
  if (name === undefined || name === null || name === "") return principal.defaultEntity
  return principal.entities.find((one) => one.name === name) ?? null
}

/** null: not there, or another team's. */
async function readProject(database: CatalogDatabase, principal: Principal, { name, entityName }: ProjectArguments) {
  const entity = entityOf(principal, entityName)
  if (entity === null || !name) return null
  const id = await findProject(database, entity.id, name)
  return id === null ? null : describeProject(id, name, entity)
}

async function upsertProject(database: CatalogDatabase, principal: Principal, input: unknown) {
  const { name, entityName } = (typeof input === "object" && input !== null ? input : {}) as Record<string, unknown>
  const entity = entityOf(principal, typeof entityName === "string" ? entityName : null)
  if (entity === null) {
    throw new HeddleError(
      "forbidden",
      `you are no member of "${String(entityName)}", so you cannot make projects there`,
    )
  }
  const valid = projectName.safeParse(name)
  if (!valid.success) {
    throw new HeddleError("bad_request", `upsertModel: name: ${valid.error.issues[0]?.message ?? "not valid"}`)
  }
  const existing = await findProject(database, entity.id, valid.data)
  const id = existing ?? (await ensureProject(database, entity.id, valid.data))
  const project = describeProject(id, valid.data, entity)
  return { model: project, project, inserted: existing === null }
}
