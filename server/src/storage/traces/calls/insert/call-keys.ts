/** Conditions on calls by id that also say where the rows are, so that few of them are read. */
import type { SqlParameters } from "../../query/sql-parameters.ts"
import { type CallKey, hasRecordedSortTime, recordedSortTimesSql } from "./call-places.ts"
import { sortTimeInId } from "./sort-time.ts"

/** SQL: a call has one of these keys. */
export function hasKey(parameters: SqlParameters, keys: readonly CallKey[]): string {
  const sortTimes = [...new Set(keys.map(({ sort_time }) => sort_time))]
  const ids = keys.map(({ id }) => id)
  return `sort_time in ${parameters.bind(sortTimes, "Array(Int64)")} and id in ${parameters.bind(ids, "Array(String)")}`
}

/** SQL: a call of the project has one of these ids. */
export function hasId(parameters: SqlParameters, projectId: string, ids: readonly string[]): string {
  const inIds = ids.map(sortTimeInId)
  const [id] = ids
  if (id !== undefined && ids.length === 1 && inIds[0] === null)
    return `${hasRecordedSortTime(parameters, projectId, id)} and id = ${parameters.bind(id, "String")}`
  const held = [...new Set(inIds)].filter((time) => time !== null)
  const others = ids.filter((_, index) => inIds[index] === null)
  const sortTimes = parameters.bind(held, "Array(Int64)")
  const recorded = () => recordedSortTimesSql(parameters, projectId, parameters.bind(others, "Array(String)"))
  // To plan a union takes longer than to read a call.
  let either = sortTimes
  if (held.length === 0) either = `(${recorded()})`
  else if (others.length > 0) either = `(select arrayJoin(${sortTimes}) union all ${recorded()})`
  return `sort_time in ${either} and id in ${parameters.bind(ids, "Array(String)")}`
}
