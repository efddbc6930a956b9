/** Routes that clients of the evaluation store call first: objects 10, calls 1.2. `/health` is in `inference/`. */
import { ownTeam } from "../access/can.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import { serverVersion } from "../http/server-version.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { findProjects, internalProjectId } from "../storage/catalog/accounts/projects.ts"
import {
  type ProjectsInfo,
  projectsInfo,
  projectsInfoBody,
  serverInfo,
  versionAnswer,
} from "../wire/platform/service.ts"

const shared = { dialect: "reason", tag: "Service", method: "GET" } as const

/** Lower than every weave release: none of them is refused. */
const oldestWeave = "0.0.1"

export function serviceRoutes(database: CatalogDatabase): Route[] {
  return [
    route({
      ...shared,
      path: "/server_info",
      access: "public",
      summary: "Which clients may connect, and the version of this server",
      schemas: {},
      response: serverInfo,
      handle: async () => ({
        min_required_weave_python_version: oldestWeave,
        trace_server_version: await serverVersion(),
      }),
    }),
    route({
      ...shared,
      path: "/version",
      access: { right: "read", of: "server", ingest: true },
      summary: "The version of this server",
      schemas: {},
      response: versionAnswer,
      handle: async () => ({ version: await serverVersion() }),
    }),
    route({
      ...shared,
      method: "POST",
      path: "/service/projects_info",
      access: { right: "read", of: "teams", ingest: true },
      summary: "The ids that stand for projects inside refs; unknown projects are left out",
      schemas: { body: projectsInfoBody },
      response: projectsInfo,
      handle: async ({ body, principal }) => describeProjects(database, principal, body.project_ids),
    }),
  ]
}

async function describeProjects(
  database: CatalogDatabase,
  principal: Principal,
  names: readonly string[],
): Promise<ProjectsInfo> {
  const keys = names.flatMap((name) => projectKey(principal, name) ?? [])
  const ids = await findProjects(database, keys)
  return keys.flatMap(({ external }, index) => {
    const id = ids[index] ?? null
    return id === null ? [] : [{ external_project_id: external, internal_project_id: internalProjectId(id) }]
  })
}

/** null: no project of the caller's has such a name. */
function projectKey(principal: Principal, external: string) {
  const [entityName, name = "", ...rest] = external.split("/")
  const entity = ownTeam(principal, entityName ?? "")
  return entity === undefined || rest.length > 0 ? null : { external, entityId: entity.id, name }
}
