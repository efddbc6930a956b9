/** How many bytes a project holds: evaluation-store-objects 10. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import { objectBytes } from "../../storage/catalog/objects/object-bytes.ts"
import { projectFileBytes } from "../../storage/catalog/objects/project-files.ts"
import { callBytes, rowBytes } from "../../storage/traces/stored-bytes.ts"
import type { projectStatsAnswer, projectStatsBody } from "../../wire/objects/project.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { existingProject } from "../../access/project-access.ts"

export async function projectStats(
  { database, traces }: StoreDependencies,
  principal: Principal,
  body: z.infer<typeof projectStatsBody>,
): Promise<z.infer<typeof projectStatsAnswer>> {
  const { id } = await existingProject(database, principal, body.project_id)
  const included = (flag: boolean | null | undefined, bytes: () => Promise<number>) => (flag === false ? 0 : bytes())
  const [calls, objects, tables, files] = await Promise.all([
    included(body.include_trace_storage_size, () => callBytes(traces, id)),
    included(body.include_object_storage_size, () => objectBytes(database, id)),
    included(body.include_table_storage_size, () => rowBytes(traces, id)),
    included(body.include_file_storage_size, () => projectFileBytes(database, id)),
  ])
  return {
    trace_storage_size_bytes: calls,
    objects_storage_size_bytes: objects,
    tables_storage_size_bytes: tables,
    files_storage_size_bytes: files,
  }
}
