/** How long calls of a project are kept: evaluation-store-objects 10. */
import type { z } from "zod"
import { ensureProjectWithoutRoom } from "../../access/project-access.ts"
import type { Principal } from "../../http/principal.ts"
import { audited } from "../../storage/catalog/accounts/audit-logs.ts"
import { forgetRetention, setRetentionDays } from "../../storage/catalog/accounts/call-retention.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import type { retentionAnswer, retentionBody } from "../../wire/objects/project.ts"

/** Also of a team that has no room: a limit makes some. */
export async function changeRetention(
  database: CatalogDatabase,
  principal: Principal,
  { project_id, retention_days = null }: z.output<typeof retentionBody>,
): Promise<z.output<typeof retentionAnswer>> {
  const project = await ensureProjectWithoutRoom(database, principal, project_id)
  await audited(database, principal, async (transaction, record) => {
    if (!(await setRetentionDays(transaction, project.id, retention_days))) return
    const details = { retention_days }
    await record({ type: "project.retention_updated", team: project.entity, resourceId: project.name, details })
  })
  forgetRetention(database)
  return { retention_days }
}
