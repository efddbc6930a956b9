/**
 * The part of the W&B GraphQL interface that this server has: signing in (objects 15.2, 15.3), projects, runs
 * and artifacts (platform-wandb). Every field may be null, so that no question fails as a whole.
 */
import { buildSchema } from "graphql"
import { can, type Membership, ownTeam, requireScope, scopeAllows } from "../../access/can.ts"
import { ensureProjectWithoutRoom } from "../../access/project-access.ts"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import {
  findProject,
  findProjectRecord,
  idOfProject,
  internalProjectId,
  listProjects,
} from "../../storage/catalog/accounts/projects.ts"
import type { RouteAccess } from "../../wire/platform/access.ts"
import { workForTeam } from "../../work/work-scope.ts"
import { artifactEditMutations } from "../artifacts/artifact-edits.ts"
import { artifactLogMutations } from "../artifacts/artifact-log.ts"
import { artifactFields, artifactRoots } from "../artifacts/artifact-queries.ts"
import { artifactTypes } from "../artifacts/artifact-types.ts"
import { describeEntity, describeTeam, describeUser, findUsers } from "./graphql-accounts.ts"
import { platformTypes } from "./graphql-types.ts"
import { alertMutations } from "../runs/run-alerts.ts"
import type { RunContext } from "../runs/run-context.ts"
import { accessOfUse } from "../runs/run-file-links.ts"
import { runMutations } from "../runs/run-mutations.ts"
import { runFields } from "../runs/run-queries.ts"
import { checkedProjectName } from "../runs/checked-input.ts"

export const platformSchema = buildSchema(platformTypes + artifactTypes)

/** The newest wandb that this server is tested with; later ones are told so by `wandb verify`. */
const newestClient = "0.31.0"

/** Features that newer clients ask about before they use them: platform-wandb 3.4. */
const features = [
  "STRUCTURED_CONSOLE_LOGS",
  "FILESTREAM_GZIP",
  "LARGE_FILENAMES",
  "PROJECT_ARTIFACT_COLLECTION_MEMBERSHIP",
  "ARTIFACT_COLLECTION_MEMBERSHIP_FILES",
  "TOTAL_COUNT_IN_FILE_CONNECTION",
  "ARTIFACT_TAGS",
  "CLIENT_IDS",
].map((name) => ({ name, isEnabled: true }))

interface ProjectArguments {
  name?: string | null
  entityName?: string | null
}

export interface Caller {
  /** Several processes write the run that is told of. */
  isShared: boolean
}

const ofInput = "project body.variables"
const ofRun = "run body.variables"
const ofArtifact = "artifact body.variables"

/** Right that each root field needs. */
export const graphqlAccess = {
  viewer: { right: "read", of: "account", ingest: true },
  serverInfo: { right: "read", of: "server", ingest: true },
  entity: { right: "read", of: "teams", ingest: true },
  users: { right: "read", of: "teams" },
  project: { right: "read", of: ofInput, ingest: true },
  model: { right: "read", of: ofInput, ingest: true },
  models: { right: "read", of: "team body.variables" },
  upsertModel: { right: "write", of: ofInput, ingest: true },
  upsertBucket: { right: "write", of: ofRun, ingest: true },
  createRunFiles: { ...accessOfUse.store, of: ofRun },
  rewindRun: { right: "write", of: ofRun },
  stopRun: { right: "write", of: ofRun },
  updateRunState: { right: "write", of: ofRun },
  notifyScriptableRunAlert: { right: "write", of: ofRun, ingest: true },
  deleteRun: { right: "write", of: ofRun },
  deleteFiles: { right: "write", of: ofRun },
  artifact: { right: "read", of: ofArtifact },
  artifactCollection: { right: "read", of: ofArtifact },
  clientIDMapping: { right: "read", of: ofArtifact, ingest: true },
  createArtifact: { right: "write", of: ofArtifact, ingest: true },
  createArtifactManifest: { right: "write", of: ofArtifact, ingest: true },
  updateArtifactManifest: { right: "write", of: ofArtifact, ingest: true },
  createArtifactFiles: { right: "write", of: ofArtifact, ingest: true },
  completeMultipartUploadArtifact: { right: "write", of: ofArtifact, ingest: true },
  commitArtifact: { right: "write", of: ofArtifact, ingest: true },
  useArtifact: { right: "write", of: ofArtifact },
  updateArtifact: { right: "write", of: ofArtifact },
  deleteArtifact: { right: "write", of: ofArtifact },
  addAliases: { right: "write", of: ofArtifact },
  deleteAliases: { right: "write", of: ofArtifact },
  linkArtifact: { right: "write", of: ofArtifact },
  unlinkArtifact: { right: "write", of: ofArtifact },
  updateArtifactSequence: { right: "write", of: ofArtifact },
  updateArtifactPortfolio: { right: "write", of: ofArtifact },
  moveArtifactSequence: { right: "write", of: ofArtifact },
  deleteArtifactSequence: { right: "write", of: ofArtifact },
  deleteArtifactPortfolio: { right: "write", of: ofArtifact },
  createArtifactCollectionTagAssignments: { right: "write", of: ofArtifact },
  deleteArtifactCollectionTagAssignments: { right: "write", of: ofArtifact },
} as const satisfies Record<keyof ReturnType<typeof fieldsOf>, RouteAccess>

/** The root fields, answering for one caller; each asks for the right that it needs before anything else. */
export function platformResolvers(context: RunContext, caller: Caller): Record<string, (given: object) => unknown> {
  const resolverOf = ([name, access]: [string, RouteAccess]) => {
    const resolve = (given: object): unknown => {
      const { principal } = context
      requireScope(principal.scope, access)
      const fields = fieldsOf({ ...context, principal: { ...principal, right: access.right } }, caller)
      return (fields as Record<string, (arguments_: object) => unknown>)[name]?.(given)
    }
    return [name, resolve] as const
  }
  return Object.fromEntries(Object.entries(graphqlAccess).map(resolverOf))
}

function fieldsOf(context: RunContext, { isShared }: Caller) {
  const { principal } = context
  const project = (given: ProjectArguments) => readProject(context, given)
  return {
    viewer: () => describeUser(principal),
    project,
    model: project,
    entity: ({ name }: { name?: string | null }) => {
      const entity = entityOf(principal, name)
      return entity === null ? null : describeTeam(context, entity)
    },
    users: ({ query }: { query?: string | null }) => findUsers(context, query),
    models: (given: ProjectsArguments) => readProjects(context, given),
    serverInfo: () => ({ frontendHost: null, cliVersionInfo: { max_cli_version: newestClient }, features }),
    upsertModel: ({ input }: { input?: unknown }) => upsertProject(context, input),
    ...runMutations(context, isShared),
    ...alertMutations(context),
    ...artifactRoots(context),
    ...artifactLogMutations(context),
    ...artifactEditMutations(context),
  }
}

function describeProject(id: string, name: string, entity: Membership) {
  const internalId = internalProjectId(id)
  return {
    id: internalId,
    internalId,
    name,
    entityName: entity.name,
    description: null,
    repo: null,
    isBenchmark: false,
    entity: describeEntity(entity),
  }
}

const emptyList = { edges: [], pageInfo: { hasNextPage: false, endCursor: null } }

/** No project has sweeps or reports; their lists are empty, since a null fails the client that asks for them. */
const absentFields = { totalSweeps: 0, sweeps: emptyList, allViews: emptyList }

function projectFields(context: RunContext, projectId: string) {
  return { ...absentFields, ...runFields(context, projectId), ...artifactFields(context, projectId) }
}

/** null: not one of the caller's. No name means the default one. */
function entityOf(principal: Principal, name: string | null | undefined): Membership | null {
  if (name === undefined || name === null || name === "") return principal.defaultEntity
  return ownTeam(principal, name) ?? null
}

/** null: not there, or another team's. */
async function readProject(context: RunContext, { name, entityName }: ProjectArguments) {
  const entity = entityOf(context.principal, entityName)
  if (entity === null || !name) return null
  workForTeam(entity.id)
  const id = await findProject(context.database, entity.id, name)
  if (id === null || !can(context.principal, "read", { id, entityId: entity.id })) return null
  const mayRead = scopeAllows(context.principal.scope, { right: "read" })
  const createdAt = async () => (await findProjectRecord(context.database, [entity.id], id))?.createdAt.toISOString()
  return { ...describeProject(id, name, entity), createdAt, ...(mayRead ? projectFields(context, id) : {}) }
}

interface ProjectsArguments {
  entityName?: string | null
  after?: string | null
  first?: number | null
}

const mostProjects = 100

/** The newest first. */
async function readProjects(context: RunContext, { entityName, after, first }: ProjectsArguments) {
  const entity = entityOf(context.principal, entityName)
  if (entity === null) return null
  const limit = Math.min(Math.max(first ?? 50, 1), mostProjects)
  const found = await listProjects(context.database, {
    entityIds: [entity.id],
    query: null,
    afterId: after ? idOfProject(after) : null,
    limit: limit + 1,
  })
  const edges = found.slice(0, limit).map(({ id, name, createdAt }) => ({
    cursor: internalProjectId(id),
    node: { ...describeProject(id, name, entity), ...projectFields(context, id), createdAt: createdAt.toISOString() },
  }))
  return { edges, pageInfo: { hasNextPage: found.length > limit, endCursor: edges.at(-1)?.cursor ?? null } }
}

async function upsertProject({ database, principal }: RunContext, input: unknown) {
  const { name, entityName } = (typeof input === "object" && input !== null ? input : {}) as Record<string, unknown>
  const entity = entityOf(principal, typeof entityName === "string" ? entityName : null)
  if (entity === null) {
    throw new HeddleError(
      "forbidden",
      `you are no member of "${String(entityName)}", so you cannot make projects there`,
    )
  }
  const projectName = checkedProjectName("upsertModel", "name", name)
  const existing = await findProject(database, entity.id, projectName)
  const { id } = await ensureProjectWithoutRoom(database, principal, `${entity.name}/${projectName}`)
  const project = describeProject(id, projectName, entity)
  return { model: project, project, inserted: existing === null }
}
