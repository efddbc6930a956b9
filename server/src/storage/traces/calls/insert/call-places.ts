/**
 * Places of calls: by them calls are found that their sort time alone does not find. Each start makes
 * one by time and one by trace; a call whose id holds no time has one more, by its id. All are in one
 * table, as a part costs 2 to 3 ms however small (2 cores). They are not rows of the table of calls,
 * whose parts would then overlap in the order of their keys, so that every read with `final` had to
 * merge all of them.
 *
 * A place by time or by trace is a candidate: what it names is checked in the calls, as a call may have
 * been started again at another time, or in another trace.
 */
import { namedAtOnce } from "../../query/named-at-once.ts"
import type { SqlParameters } from "../../query/sql-parameters.ts"
import { kindOf, type TraceParameters, type TraceStore } from "../../store/trace-store.ts"
import { callPlacesTable, callsFinal, callsTable } from "../calls-tables.ts"
import { holdsSortTimeSql } from "./sort-time.ts"

const kinds = { time: 0, trace: 1, id: 2 } as const

/** Where the rows of a call are. */
export interface CallKey {
  id: string
  sort_time: number
}

/** As the store tells it: 64-bit numbers are text. */
export interface StoredKey {
  id: string
  sort_time: string | number
}

export function callKey({ id, sort_time }: StoredKey): CallKey {
  return { id, sort_time: Number(sort_time) }
}

export interface CallStart {
  trace_id: string
  /** As it is stored. */
  started_at: string
}

/** Columns of the CSV lines below. None of their values may hold a comma or a quote. */
export const placeColumns: readonly string[] = ["kind", "project_id", "key", "started_at", "id", "sort_time"]

/** The places of a start. */
export function placeLines(projectId: string, { id, sort_time }: CallKey, { trace_id, started_at }: CallStart): string {
  const place = `${started_at},${id},${sort_time}\n`
  return `${kinds.time},${projectId},,${place}${kinds.trace},${projectId},${trace_id},${place}`
}

/** Records the sort time of an id that holds none. */
export function idPlaceLine(projectId: string, { id, sort_time }: CallKey): string {
  return `${kinds.id},${projectId},${id},,,${sort_time}\n`
}

/** SQL: a select of `sort_time` and `id` of all calls that ever were of one of these traces, each once. */
export function traceCandidates(parameters: SqlParameters, projectId: string, traceIds: readonly string[]): string {
  const project = parameters.bind(projectId, "UUID")
  const traces = parameters.bind(traceIds, "Array(String)")
  return `select distinct sort_time, id from ${callPlacesTable}
    prewhere kind = ${kinds.trace} and project_id = ${project} and key in ${traces}`
}

/** Starts of calls of a project. */
export interface StartsOf {
  projectId: string
  /** SQL over `started_at`; null: all starts. */
  startedAt: string | null
}

/**
 * SQL: a select of `id`, `sort_time` and `started_at` of the first or the last places by time, `rows` of them. One that was
 * stored twice has two rows until they are merged.
 */
export function timeCandidates(
  parameters: SqlParameters,
  starts: StartsOf,
  direction: "asc" | "desc",
  rows: number,
): string {
  const order = ["kind", "project_id", "key", "started_at", "id"].map((column) => `${column} ${direction}`)
  return `select id, sort_time, started_at ${placesOf(parameters, starts)} order by ${order.join(", ")} limit ${rows}`
}

/**
 * SQL: a select of one row about the `count` places that are the first or the last by time: `bound`, the start behind them,
 * `from` and `to`, their first and last sort time, and how many `calls` they are; 0 when there are no more than `count`.
 */
export function sortTimesOfFirst(
  parameters: SqlParameters,
  starts: StartsOf,
  direction: "asc" | "desc",
  count: number,
): string {
  const places = placesOf(parameters, starts)
  const order = ["kind", "project_id", "key", "started_at"].map((column) => `${column} ${direction}`)
  return `with (select started_at ${places} order by ${order.join(", ")} limit 1 offset ${count}) as bound
    select bound, min(sort_time) as from, max(sort_time) as to, count() as calls
    ${places} and started_at ${direction === "asc" ? "<" : ">"} bound`
}

/** Where calls lie that began in one of several stretches of time, as the store tells it. */
export interface StoredStretch {
  /** When the first of them began: microseconds since 1970. */
  start: string
  /** The first and the last of their sort times. */
  from: string
  to: string
}

/** SQL: a select of {@link StoredStretch}, in the order of time, a new one after every `count` of these starts. */
export function stretchesOf(parameters: SqlParameters, starts: StartsOf, count: number): string {
  const places = placesOf(parameters, starts)
  const start = "toUnixTimestamp64Micro(started_at)"
  return `with
      (select arraySort(groupArray(${start})) ${places}) as ordered,
      arrayFilter((_, place) -> place % ${count} = 1, ordered, arrayEnumerate(ordered)) as firsts
    select roundDown(${start}, if(empty(firsts), [toInt64(0)], arrayDistinct(firsts))) as start,
      min(sort_time) as from, max(sort_time) as to ${places} group by start order by start`
}

/** Looking at more places would take longer than it saves. */
const mostLookedAt = 262_144

/**
 * SQL: of a row that lies where there are calls that ever started so, so that no other part of the table is read. When they
 * are many it holds for all rows.
 */
export function liesAmong(parameters: SqlParameters, starts: StartsOf): string {
  const some = `(select sort_time ${placesOf(parameters, starts)} limit ${mostLookedAt + 1})`
  const bound = (end: "min" | "max", none: string) =>
    `(select if(count() > ${mostLookedAt}, toInt64(${none}), ${end}(sort_time)) from ${some})`
  return `sort_time >= ${bound("min", "-9223372036854775808")} and sort_time <= ${bound("max", "9223372036854775807")}`
}

function placesOf(parameters: SqlParameters, { projectId, startedAt }: StartsOf): string {
  const isWanted = startedAt === null ? "" : ` and ${startedAt}`
  return `from ${callPlacesTable}
    where kind = ${kinds.time} and project_id = ${parameters.bind(projectId, "UUID")} and key = ''${isWanted}`
}

/** Removes the places by time of all starts up to a moment. `startedUntil`: as it is stored, inclusive. */
export async function removePlacesByTime(traces: TraceStore, projectId: string, startedUntil: string): Promise<void> {
  await traces.command(
    `delete from ${callPlacesTable} where kind = ${kinds.time} and project_id = {projectId:UUID} and key = ''
      and started_at <= {startedUntil:DateTime64(6, 'UTC')}`,
    { projectId, startedUntil },
  )
}

/** Gives calls the places by time that they lack. `calls`: SQL, which of them, in the table with its partial rows made one. */
export async function addPlacesByTime(traces: TraceStore, calls: string, parameters: TraceParameters): Promise<void> {
  await traces.command(
    `insert into ${callPlacesTable} (kind, project_id, key, started_at, id, sort_time)
      select ${kinds.time}, project_id, '', assumeNotNull(started_at), id, sort_time from ${callsFinal} where ${calls}
      settings max_threads = 1, max_insert_threads = 1`,
    parameters,
    true,
  )
}

/** SQL: of a call that is one of the candidates. */
export function isCandidate(candidates: string): string {
  return `(sort_time, id) in (${candidates})`
}

/** SQL: a select of the recorded sort times of some ids. `ids`: SQL of an array, or a select in brackets. */
export function recordedSortTimesSql(parameters: SqlParameters, projectId: string, ids: string): string {
  return `select sort_time from ${callPlacesTable}
    where kind = ${kinds.id} and project_id = ${parameters.bind(projectId, "UUID")} and key in ${ids}`
}

/**
 * SQL: of a row under the recorded sort time of an id: the earliest, under which all rows of its call are brought together.
 * One value, since a set that a subquery fills takes two milliseconds more. The key is read first, as it alone nearly always
 * tells.
 */
export function hasRecordedSortTime(parameters: SqlParameters, projectId: string, id: string): string {
  return `sort_time = (
    select sort_time from ${callPlacesTable} prewhere key = ${parameters.bind(id, "String")}
    where kind = ${kinds.id} and project_id = ${parameters.bind(projectId, "UUID")} order by sort_time limit 1
  )`
}

/** The recorded sort times of these ids, the earliest first; usually one. What has none is left out. */
export async function recordedSortTimes(
  traces: TraceStore,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>()
  for (const some of namedAtOnce(ids)) {
    const rows = await traces.rows<{ key: string; sort_time: string }>(
      `select key, sort_time from ${callPlacesTable}
        where kind = ${kinds.id} and project_id = {projectId:UUID} and key in {some:Array(String)}`,
      { projectId, some },
      { few: true, kind: kindOf(some) },
    )
    const byId = Map.groupBy(rows, ({ key }) => key)
    for (const [id, places] of byId) {
      const sortTimes = new Set(places.map(({ sort_time }) => Number(sort_time)))
      found.set(
        id,
        [...sortTimes].toSorted((a, b) => a - b),
      )
    }
  }
  return found
}

export interface RecordedIds {
  ids: string[]
  /** Where the next ones begin; null: these were the last. */
  next: RecordedPlace | null
}

export interface RecordedPlace {
  projectId: string
  id: string
}

/** Some of all ids of the store that have a recorded sort time, in the order of their places. */
export async function readRecordedIds(
  traces: TraceStore,
  after: RecordedPlace | null,
  most: number,
): Promise<RecordedIds> {
  const beyond =
    after === null ? "true" : "(project_id > {projectId:UUID} or (project_id = {projectId:UUID} and key > {id:String}))"
  // One text for all: as a row each they would take ten times as long to read.
  const [row] = await traces.rows<{ ids: string; last: [projectId: string, id: string] }>(
    `select arrayStringConcat(groupArray(key), '\n') as ids, max((project_id, key)) as last from (
      select project_id, key from ${callPlacesTable} where kind = ${kinds.id} and ${beyond}
      order by kind, project_id, key limit ${most}
    )`,
    after === null ? {} : { projectId: after.projectId, id: after.id },
    { few: true },
  )
  if (row === undefined || row.ids === "") return { ids: [], next: null }
  const ids = row.ids.split("\n")
  const [projectId, id] = row.last
  return { ids, next: ids.length < most ? null : { projectId, id } }
}

/**
 * A crash between the two inserts of a request, which then was never answered, may leave calls without
 * places. At the next start they lie in a part that was not merged, or was just now. To add a place
 * that is there changes nothing.
 */
export async function addMissingPlaces(traces: TraceStore): Promise<void> {
  const recent = `_part in (
    select name from system.parts where database = currentDatabase() and table = '${callsTable}'
      and active and (level = 0 or modification_time > now() - 10)
  )`
  await traces.command(
    `insert into ${callPlacesTable} (kind, project_id, key, started_at, id, sort_time)
      select place.1, project_id, place.2, place.3, place.4, sort_time from (
        select project_id, sort_time, arrayJoin(${placesOfRowSql}) as place from ${callsTable} where ${recent}
      )`,
  )
}

/** SQL: of a row of calls, an array of the columns kind, key, started_at and id of its places. */
export const placesOfRowSql = `arrayConcat(
  if(started_at is null or trace_id is null, [], [
    (${kinds.time}, '', assumeNotNull(started_at), id),
    (${kinds.trace}, assumeNotNull(trace_id), assumeNotNull(started_at), id)
  ]),
  if(${holdsSortTimeSql}, [], [(${kinds.id}, id, toDateTime64(0, 6, 'UTC'), '')])
)`
