/** From the names of a request to the run it may touch. Another team's is not told from one that is not there. */
import { type Membership, ownTeam, requireRightIn } from "../../access/can.ts"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { findProject } from "../../storage/catalog/accounts/projects.ts"
import { findRun, type RunRecord } from "../../storage/catalog/runs/runs.ts"
import { isStorable } from "../../storage/catalog/storable-text.ts"
import { workForTeam } from "../../work/work-scope.ts"

export interface RunNames {
  entity: string
  project: string
  run: string
}

/** Project of runs and artifacts whose client names none. */
export const defaultProject = "uncategorized"

interface GivenNames {
  entityName?: string | null | undefined
  projectName?: string | null | undefined
  runName: string
}

/** What a client leaves out is the caller's default. */
export function namesOfRun(principal: Principal, { entityName, projectName, runName }: GivenNames): RunNames {
  return {
    entity: entityName || principal.defaultEntity.name,
    project: projectName || defaultProject,
    run: runName,
  }
}

export interface RunAccess {
  run: RunRecord
  entity: Membership
}

/** @throws {HeddleError} `not_found`, `forbidden`. */
export async function requireRun(
  database: CatalogDatabase,
  principal: Principal,
  { entity: entityName, project, run: name }: RunNames,
): Promise<RunAccess> {
  const entity = ownTeam(principal, entityName)
  if (entity !== undefined) {
    workForTeam(entity.id)
    const projectId = await findProject(database, entity.id, project)
    const run = projectId === null || !isStorable(name) ? null : await findRun(database, projectId, name)
    if (run !== null) {
      requireRightIn(principal, run.project_id, run)
      return { run, entity }
    }
  }
  throw new HeddleError(
    "not_found",
    `no run "${name}" in "${entityName}/${project}": it was never made, or was deleted, or you are not in that team`,
  )
}
