/** `/threads/stream_query`: evaluation-store-calls 5. */
import { HeddleError } from "../../errors.ts"
import { type Route, route } from "../../http/route.ts"
import { microsecondsOf } from "../../storage/traces/query/sql-time.ts"
import { findThreads, threadSortFields, type ThreadsQuery } from "../../storage/traces/calls/threads.ts"
import { threadRecord, threadsQueryRequest, type ThreadsQueryRequest } from "../../wire/calls/thread.ts"
import type { CallDependencies } from "../dependencies.ts"
import { jsonLines, lineTypes, linesType, sendStream } from "../../http/answers/json-stream.ts"
import { checkRange } from "../../objects/requests/list-range.ts"
import { existingProject } from "../../access/project-access.ts"

export function threadRoutes({ database, traces }: CallDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/threads/stream_query",
      access: { right: "read", of: "project body.project_id" },
      dialect: "reason",
      tag: "Threads",
      summary: "Threads as JSON Lines, latest first",
      schemas: { body: threadsQueryRequest },
      response: threadRecord,
      answerTypes: lineTypes,
      handle: async ({ body, principal, request, reply }) => {
        const query = queryOf(body)
        const project = await existingProject(database, principal, body.project_id)
        const threads = findThreads(traces, { ...query, projectId: project.id })
        await sendStream(reply, linesType(request.headers.accept), jsonLines(texts(threads)))
      },
    }),
  ]
}

async function* texts(threads: Promise<object[]>): AsyncGenerator<string[]> {
  const found = await threads
  yield found.map((thread) => JSON.stringify(thread))
}

function queryOf(body: ThreadsQueryRequest): Omit<ThreadsQuery, "projectId"> {
  return {
    after: timeOf("after_datetime", body.filter?.after_datetime),
    before: timeOf("before_datetime", body.filter?.before_datetime),
    threadIds: body.filter?.thread_ids ?? [],
    sortBy: body.sort_by?.length ? body.sort_by.map(sortTerm) : [{ field: "last_updated", direction: "desc" }],
    ...checkRange(body),
  }
}

function sortTerm({ field, direction }: { field: string; direction: "asc" | "desc" }) {
  const known = threadSortFields.find((one) => one === field)
  if (known !== undefined) return { field: known, direction }
  throw new HeddleError("value_error", `Unsupported sort field: ${field}. Use one of: ${threadSortFields.join(", ")}`)
}

function timeOf(name: string, text: string | null | undefined): bigint | null {
  if (text === null || text === undefined) return null
  const microseconds = microsecondsOf(text)
  if (microseconds === null) throw new HeddleError("value_error", `${name}: "${text}" is not an ISO 8601 time`)
  return microseconds
}
