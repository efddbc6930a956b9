/** Backups of the running server, which administrators make, see and remove. */
import { type Route, route } from "../http/route.ts"
import { type BackupRecord, type Backups, noBackup } from "../storage/backup/backups.ts"
import { auditedAround } from "../storage/catalog/accounts/audit-logs.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { type Backup, backup, backupList, backupParams, deletedBackup } from "../wire/platform/backup.ts"
import { toTheEnd } from "../work/work-scope.ts"

const shared = { dialect: "openai", tag: "Service", access: "admin" } as const
const path = "/v1/organization/backups"

export function backupRoutes(database: CatalogDatabase, backups: Backups): Route[] {
  return [
    route({
      ...shared,
      method: "POST",
      path,
      summary: "Make a backup of the running server, with all that was stored before this request",
      schemas: {},
      response: backup,
      handle: ({ principal }) =>
        // Its client need not wait for it.
        toTheEnd(async () => {
          const made = await backups.make((resourceId, work) =>
            auditedAround(database, principal, { type: "backup.created", team: null, resourceId }, work),
          )
          return toWire(made)
        }),
    }),
    route({
      ...shared,
      method: "GET",
      path,
      summary: "List the backups of this server, the oldest first",
      schemas: {},
      response: backupList,
      handle: async () => ({ object: "list", data: (await backups.list()).map(toWire) }),
    }),
    route({
      ...shared,
      method: "DELETE",
      path: `${path}/:name`,
      summary: "Remove a backup",
      schemas: { params: backupParams },
      response: deletedBackup,
      handle: async ({ params: { name }, principal }) => {
        if (!(await backups.has(name))) throw noBackup(name)
        const entry = { type: "backup.deleted", team: null, resourceId: name } as const
        await auditedAround(database, principal, entry, () => backups.remove(name))
        return { name, deleted: true }
      },
    }),
  ]
}

function toWire({ name, createdAt, bytes, seconds }: BackupRecord): Backup {
  return { object: "organization.backup", name, created_at: createdAt.toISOString(), bytes, seconds }
}
