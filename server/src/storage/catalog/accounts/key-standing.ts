/** What the user of a key is in a project now: for addresses that carry the ids of a key and a project. */
import { sql } from "kysely"
import type { KeyScope, Role } from "../../../wire/platform/access.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { liveKeys } from "./api-keys.ts"

export interface KeyInProject {
  apiKeyId: string
  projectId: string
}

export interface KeyStanding {
  scope: KeyScope
  /** In the project, or in its team. */
  role: Role
  /** Of the project's team. */
  entityId: string
}

/** For each, in order; null: the key is dead, its user is not in the project's team, or the project was deleted. */
export async function standingOfKeys(
  database: CatalogDatabase,
  keys: readonly KeyInProject[],
): Promise<(KeyStanding | null)[]> {
  const apiKeyIds = [...new Set(keys.map(({ apiKeyId }) => apiKeyId))]
  const projectIds = [...new Set(keys.map(({ projectId }) => projectId))]
  const rows = await liveKeys(database)
    .clearSelect()
    .innerJoin("projects", (join) => join.on(sql<boolean>`projects.id = any(${projectIds}::uuid[])`))
    .innerJoin("memberships", (join) =>
      join
        .onRef("memberships.entity_id", "=", "projects.entity_id")
        .onRef("memberships.user_id", "=", "api_keys.user_id"),
    )
    .leftJoin("project_roles", (join) =>
      join
        .onRef("project_roles.project_id", "=", "projects.id")
        .onRef("project_roles.user_id", "=", "api_keys.user_id"),
    )
    .select(["api_keys.id as api_key_id", "api_keys.scope", "projects.id as project_id", "projects.entity_id"])
    .select(["memberships.role", "project_roles.role as own_role"])
    .where(sql<boolean>`api_keys.id = any(${apiKeyIds}::uuid[])`)
    .execute()
  const found = new Map(rows.map((row) => [`${row.api_key_id} ${row.project_id}`, row]))
  return keys.map(({ apiKeyId, projectId }) => {
    const row = found.get(`${apiKeyId} ${projectId}`)
    if (row === undefined) return null
    return { scope: row.scope, role: row.own_role ?? row.role, entityId: row.entity_id }
  })
}
