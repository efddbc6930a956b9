/** What the three families of an evaluation run answer alike. */
import { HeddleError, invalid } from "../../errors.ts"
import type { RouteContext } from "../../http/route.ts"
import type { CallRow } from "../../storage/traces/calls/shown-calls.ts"
import { deleteCalls, maximumDeletedIds } from "../calls/call-changes.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { jsonLines, linesType, sendStream } from "../json-stream.ts"
import { checkRange, type ListRange } from "../list-range.ts"
import { projectNameOf } from "../object-families/family.ts"
import { type ProjectAccess, projectForRead } from "../project-access.ts"
import { idsOfKind } from "./run-calls.ts"

type ProjectInPath = Parameters<typeof projectNameOf>[0]

type ListContext<Query> = Pick<RouteContext, "principal" | "request" | "reply"> & {
  params: ProjectInPath
  query: Query
}

/** JSON Lines of `list`, for the page that the query names. */
export async function answerLines<Query extends Parameters<typeof checkRange>[0]>(
  { database }: EvaluationDependencies,
  { params, query, principal, request, reply }: ListContext<Query>,
  list: (project: ProjectAccess, asked: Query, range: ListRange) => AsyncGenerator<string[]>,
): Promise<void> {
  const range = checkRange(query)
  const project = await projectForRead(database, principal, projectNameOf(params))
  await sendStream(reply, linesType(request.headers.accept), jsonLines(list(project, query, range)))
}

/** Deletes those of the ids that are of the kind, with all below them; ids of other things are left alone. */
export async function deleteOfKind(
  dependencies: EvaluationDependencies,
  { params, principal }: Pick<RouteContext, "principal"> & { params: ProjectInPath },
  ids: readonly string[],
  isOne: (row: CallRow) => boolean,
): Promise<{ num_deleted: number }> {
  const project = await projectForRead(dependencies.database, principal, projectNameOf(params))
  const call_ids = await idsOfKind(dependencies, project, ids, isOne)
  return { num_deleted: await deleteCalls(dependencies, principal, { project_id: project.name, call_ids }) }
}

/** The ids of the query and those of the body. @throws {HeddleError} 422 when there are neither; 413 for too many. */
export function idsToDelete(
  name: string,
  inQuery: string[] | undefined,
  inBody: string[] | null | undefined,
): string[] {
  if (inQuery === undefined && inBody == null) throw invalid(["query", name], "Field required", "missing")
  const ids = [...(inQuery ?? []), ...(inBody ?? [])]
  if (ids.length <= maximumDeletedIds) return ids
  const message = `${name} has ${ids.length} ids; one request may delete ${maximumDeletedIds}. Send several requests`
  throw new HeddleError("payload_too_large", message)
}
