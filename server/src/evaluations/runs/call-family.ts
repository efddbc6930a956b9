/** Families under `/v2` whose members are calls: what they answer alike (evaluation-store-objects 7). */
import { z } from "zod"
import { HeddleError, invalid } from "../../errors.ts"
import { type Route, route } from "../../http/route.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import { projectParams } from "../../wire/calls/call-write.ts"
import { callsDeletedAnswer, idsBody, idsQuery } from "../../wire/evaluations/evaluation-run.ts"
import type { listRangeQuery } from "../../wire/queries/list-query.ts"
import { deleteCalls, maximumDeletedIds } from "../../calls/write/call-changes.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { jsonLines, linesType, lineTypes, sendStream } from "../../http/answers/json-stream.ts"
import { checkRange, type ListRange } from "../../objects/requests/list-range.ts"
import { projectNameOf } from "../../objects/families/family.ts"
import { type ProjectAccess, existingProject } from "../../access/project-access.ts"
import { idsOfKind } from "./run-calls.ts"

export interface CallFamily<Query extends typeof listRangeQuery> {
  /** In the path, such as `scores`. */
  name: string
  /** Name of a member's id in paths and answers, such as `score_id`; with an `s` the ids to delete. */
  idName: string
  tag: string
  response: z.ZodType
  listQuery: Query
  isOne: (row: CallRow) => boolean
  /** JSON text. @throws {HeddleError} 404. */
  read: (dependencies: CallDependencies, project: ProjectAccess, id: string) => Promise<string>
  /** JSON texts, oldest first. */
  list: (
    dependencies: CallDependencies,
    project: ProjectAccess,
    query: z.output<Query>,
    range: ListRange,
  ) => AsyncGenerator<string[]>
}

/** Path below which the family's routes are. */
export const familyPath = (name: string): string => `/v2/:entity/:project/${name}`

export const familyAccess = { dialect: "reason" } as const

/** To list, read and delete. */
export function callFamilyRoutes<Query extends typeof listRangeQuery>(
  dependencies: CallDependencies,
  family: CallFamily<Query>,
): Route[] {
  return [listRoute(dependencies, family), readRoute(dependencies, family), deleteRoute(dependencies, family)]
}

function listRoute<Query extends typeof listRangeQuery>(
  dependencies: CallDependencies,
  { name, tag, response, listQuery, list }: CallFamily<Query>,
): Route {
  return route({
    ...familyAccess,
    tag,
    method: "GET",
    path: familyPath(name),
    access: { right: "read", of: "project path.entity/project" },
    summary: `List ${tag.toLowerCase()} as JSON Lines, oldest first`,
    schemas: { params: projectParams, query: listQuery },
    response,
    answerTypes: lineTypes,
    handle: async ({ params, query, principal, request, reply }) => {
      const range = checkRange(query)
      const project = await existingProject(dependencies.database, principal, projectNameOf(params))
      const lines = jsonLines(list(dependencies, project, query, range))
      await sendStream(reply, linesType(request.headers.accept), lines)
    },
  })
}

function readRoute<Query extends typeof listRangeQuery>(
  dependencies: CallDependencies,
  { name: familyName, idName, tag, response, read }: CallFamily<Query>,
): Route {
  return route({
    ...familyAccess,
    tag,
    method: "GET",
    path: `${familyPath(familyName)}/:${idName}`,
    access: { right: "read", of: "project path.entity/project" },
    summary: `Read one of the ${tag.toLowerCase()}`,
    schemas: { params: projectParams.extend({ [idName]: z.string() }) },
    response,
    handle: async ({ params: { entity = "", project: name = "", [idName]: id = "" }, principal, reply }) => {
      const project = await existingProject(dependencies.database, principal, projectNameOf({ entity, project: name }))
      reply.type("application/json").send(await read(dependencies, project, id))
    },
  })
}

/** With all below them; ids of other things are left alone. */
function deleteRoute<Query extends typeof listRangeQuery>(
  dependencies: CallDependencies,
  { name, idName, tag, isOne }: CallFamily<Query>,
): Route {
  const idsName = `${idName}s`
  return route({
    ...familyAccess,
    tag,
    method: "DELETE",
    path: familyPath(name),
    access: { right: "write", of: "project path.entity/project" },
    summary: `Delete ${tag.toLowerCase()} with the calls below them`,
    schemas: { params: projectParams, query: idsQuery(idsName), body: idsBody(idsName) },
    response: callsDeletedAnswer,
    handle: async ({ params, query, body, principal }) => {
      const ids = idsToDelete(idsName, query[idsName], body?.[idsName])
      const project = await existingProject(dependencies.database, principal, projectNameOf(params))
      const call_ids = await idsOfKind(dependencies, project, ids, isOne)
      return { num_deleted: await deleteCalls(dependencies, principal, { project_id: project.name, call_ids }) }
    },
  })
}

/** @throws {HeddleError} 422 when there are neither; 413 for too many. */
function idsToDelete(name: string, inQuery: string[] | undefined, inBody: string[] | null | undefined): string[] {
  if (inQuery === undefined && inBody == null) throw invalid(["query", name], "Field required", "missing")
  const ids = [...(inQuery ?? []), ...(inBody ?? [])]
  if (ids.length <= maximumDeletedIds) return ids
  const message = `${name} has ${ids.length} ids; one request may delete ${maximumDeletedIds}. Send several requests`
  throw new HeddleError("payload_too_large", message)
}
