/**
 * Places: rows of the table `calls` by which the newest calls and those of a trace are found.
 *
 * A place has a key and no other value. Where a call has its project's id, a place has the id of a
 * key space, made by a digest of the project and of what it lists; no read of a project's calls
 * comes across it. Being rows of the same table, the places of a call are stored by the same insert,
 * whole or not at all: a part of a second table would cost 2 to 3 ms however small (2 cores).
 *
 * A place is a candidate: what it names is checked in `calls`, as a call may have been started again
 * at another time, or in another trace.
 */
import { hash } from "node:crypto"
import type { SqlParameters } from "../query/sql-parameters.ts"

/** The id of a call by its start, oldest first. */
const timeOf = (projectId: string) => keySpace(`${projectId} time`)
/** The ids of the calls of one trace. */
const traceOf = (projectId: string, traceId: string) => keySpace(`${projectId} trace ${traceId}`)

/** A UUID. `call-places` in `../migrations` makes the same one. */
function keySpace(name: string): string {
  return hash("sha256", name, "hex").slice(0, 32)
}

/** `2026-01-02 03:04:05.123456`; a space and the id follow. */
const timeLength = 26

/**
 * The places of a call, as JSON Lines for the table `calls`.
 * @param start none of its values holds anything that JSON escapes.
 */
export function placeLines(start: { project_id: string; trace_id: string; started_at: string; id: string }): string {
  const { project_id, trace_id, started_at, id } = start
  const byTime = `{"project_id":"${timeOf(project_id)}","id":"${started_at.padEnd(timeLength, "0")} ${id}"}\n`
  return `${byTime}{"project_id":"${traceOf(project_id, trace_id)}","id":"${id}"}\n`
}

/** SQL: a select of the ids of all calls that ever were of one of these traces. */
export function traceCandidates(parameters: SqlParameters, projectId: string, traceIds: readonly string[]): string {
  const spaces = traceIds.map((traceId) => traceOf(projectId, traceId))
  return `select id from calls where project_id in ${parameters.bind(spaces, "Array(UUID)")}`
}

/** SQL: a select of `call` and `start`, the `count` places that are the first or the last by time. */
export function timeCandidates(
  parameters: SqlParameters,
  projectId: string,
  direction: "asc" | "desc",
  count: number,
): string {
  return `select substring(id, ${timeLength + 2}) as call, substring(id, 1, ${timeLength}) as start from calls
    where project_id = ${parameters.bind(timeOf(projectId), "UUID")}
    order by project_id ${direction}, id ${direction} limit ${count}`
}
