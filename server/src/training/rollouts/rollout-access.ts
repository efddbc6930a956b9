/** From the id of a rollout in a request to the one that is meant. */
import { requireRightIn, teamIds } from "../../access/can.ts"
import { existingProject } from "../../access/project-access.ts"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { findRollouts, type RolloutPlace } from "../../storage/catalog/training/rollouts.ts"

/**
 * `projectName`: `<team>/<project>`; needed where several projects have a rollout of this id.
 * @throws {HeddleError} `not_found`, the same for another team's; `forbidden`, `project_not_found`, `conflict`.
 */
export async function rolloutOf(
  database: CatalogDatabase,
  principal: Principal,
  rolloutId: string,
  projectName: string | undefined,
): Promise<RolloutPlace> {
  const found = await rolloutOrDeleted(database, principal, rolloutId, projectName)
  if (found.deletedTurns !== null) throw noSuchRollout(rolloutId)
  return found
}

/** As {@link rolloutOf}; what was deleted and not made again is found too. */
export async function rolloutOrDeleted(
  database: CatalogDatabase,
  principal: Principal,
  rolloutId: string,
  projectName: string | undefined,
): Promise<RolloutPlace> {
  const project = projectName === undefined ? null : await existingProject(database, principal, projectName)
  const found = isAscii.test(rolloutId)
    ? await findRollouts(database, teamIds(principal), rolloutId, project?.id ?? null)
    : []
  const [first] = found
  if (first === undefined) throw noSuchRollout(rolloutId)
  const there = found.filter(({ deletedTurns }) => deletedTurns === null)
  if (there.length > 1) throw several(rolloutId, there)
  requireRightIn(principal, first.projectId, first)
  return first
}

const isAscii = /^[\x21-\x7e]{1,128}$/

export function noSuchRollout(rolloutId: string): HeddleError {
  const message =
    `no rollout "${rolloutId.slice(0, 200)}": no answer was given under this id, it was deleted, or it belongs to a team ` +
    "you are not in"
  return new HeddleError("not_found", message, { param: "rollout_id" })
}

function several(rolloutId: string, places: readonly RolloutPlace[]): HeddleError {
  const names = places.map(({ entity, project }) => `${entity}/${project}`).toSorted()
  const message = `${names.length} projects have a rollout "${rolloutId}": say project_id=${names.join(" or project_id=")}`
  return new HeddleError("conflict", message, { param: "project_id" })
}
