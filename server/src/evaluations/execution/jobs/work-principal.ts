/** The principal of work that a user left to the server: it has the rights that the user has when the work is done. */
import { HeddleError } from "../../../errors.ts"
import type { Principal } from "../../../http/principal.ts"
import { findAccount } from "../../../storage/catalog/accounts/accounts.ts"
import { liveKeyScope } from "../../../storage/catalog/accounts/api-keys.ts"
import { findProjectRoles } from "../../../storage/catalog/accounts/project-roles.ts"
import type { CatalogDatabase } from "../../../storage/catalog/open-catalog.ts"
import { scopeAllows } from "../../../access/can.ts"
import { type ProjectAccess, existingProject } from "../../../access/project-access.ts"

export interface LeftWork {
  /** By which logs know it. */
  id: string
  userId: string
  apiKeyId: string
  projectId: string
  /** `entity/project`. */
  projectName: string
}

/** @throws {HeddleError} 403: they have no right to it any more, the key leaves no work, or the project was deleted. */
export async function workPrincipal(
  database: CatalogDatabase,
  { id, userId, apiKeyId, projectId, projectName }: LeftWork,
): Promise<{ principal: Principal; project: ProjectAccess }> {
  const account = await findAccount(database, userId)
  if (account === null) throw revoked()
  const boundProject = { id: projectId, name: projectName }
  const projectRoles = await findProjectRoles(database, userId)
  // Work that the server does itself has the right of the route that asked for it.
  const work = { right: "write", scope: "all", requestId: id, requestsPerMinute: null, boundProject } as const
  const principal = { ...account, ...work, apiKeyId, projectRoles }
  const project = await existingProject(database, principal, projectName)
  const scope = await liveKeyScope(database, apiKeyId)
  if (scope === null) throw revoked()
  // A monitor could be published with any key that stores objects, and its rule may be older than the rule against it.
  if (!scopeAllows(scope, { right: "write", train: true })) {
    throw new HeddleError(
      "forbidden",
      `the key that asked for this has the scope ${scope}, which leaves no work to the server`,
    )
  }
  return { principal, project }
}

export function revoked(): HeddleError {
  return new HeddleError("forbidden", "the key that asked for this was revoked, or its user left the team")
}
