/** `/annotation_queues`: evaluation-store-objects 2.6 and 6. */
import { type Route, route } from "../../http/route.ts"
import {
  annotationQueue,
  ofProject,
  queueAnswer,
  queueCreateBody,
  queueCreated,
  queueParams,
  queuesQueryBody,
  queueStatsAnswer,
  queueStatsBody,
  queueUpdateBody,
} from "../../wire/labelling/annotation-queue.ts"
import { queueWorkAnswer, queueWorkBody } from "../../wire/labelling/annotation-work.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { jsonLines, lineTypes, linesType, sendStream } from "../../http/answers/json-stream.ts"
import { existingProject } from "../../access/project-access.ts"
import { changeQueue, countQueueItems, listQueues, makeQueue, queueFor, readQueue, removeQueue } from "./queues.ts"
import { readWork } from "./work.ts"

const shared = { dialect: "reason", tag: "Annotation queues" } as const

export function annotationQueueRoutes({ database }: StoreDependencies): Route[] {
  return [
    route({
      ...shared,
      method: "POST",
      path: "/annotation_queues",
      access: { right: "write", of: "project body.project_id" },
      summary: "Make a queue",
      schemas: { body: queueCreateBody },
      response: queueCreated,
      handle: async ({ body, principal }) => makeQueue(database, principal, body),
    }),
    route({
      ...shared,
      method: "POST",
      path: "/annotation_queues/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "Queues as JSON Lines, by name, sort and page",
      schemas: { body: queuesQueryBody },
      response: annotationQueue,
      answerTypes: lineTypes,
      handle: async ({ body, principal, reply, request }) => {
        const queues = await listQueues(database, principal, body)
        const lines = async function* () {
          yield queues.map((queue) => JSON.stringify(queue))
        }
        await sendStream(reply, linesType(request.headers.accept), jsonLines(lines()))
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/annotation_queues/stats",
      access: { right: "read", of: "project body.project_id" },
      summary: "How many items queues have, and how many of them somebody has finished",
      schemas: { body: queueStatsBody },
      response: queueStatsAnswer,
      handle: async ({ body, principal }) => {
        const project = await existingProject(database, principal, body.project_id)
        return { stats: await countQueueItems(database, project.id, body.queue_ids) }
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/annotation_queues/work",
      access: { right: "read", of: "project body.project_id" },
      summary: "How far queues are, who works on them, and what the caller may do there",
      schemas: { body: queueWorkBody },
      response: queueWorkAnswer,
      handle: async ({ body, principal }) => readWork(database, principal, body),
    }),
    route({
      ...shared,
      method: "GET",
      path: "/annotation_queues/:queue_id",
      access: { right: "read", of: "project query.project_id" },
      summary: "One queue",
      schemas: { params: queueParams, query: ofProject },
      response: queueAnswer,
      handle: async ({ params, query, principal }) => ({
        queue: await readQueue(database, await queueFor(database, principal, query.project_id, params.queue_id)),
      }),
    }),
    route({
      ...shared,
      method: "PUT",
      path: "/annotation_queues/:queue_id",
      access: { right: "write", of: "project body.project_id" },
      summary: "Change what is given of a queue; null leaves alone",
      schemas: { params: queueParams, body: queueUpdateBody },
      response: queueAnswer,
      handle: async ({ params, body, principal }) => {
        const access = await queueFor(database, principal, body.project_id, params.queue_id)
        return { queue: await changeQueue(database, principal, access, body) }
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/annotation_queues/:queue_id",
      access: { right: "write", of: "project query.project_id" },
      summary: "Delete a queue; what was labelled stays",
      schemas: { params: queueParams, query: ofProject },
      response: queueAnswer,
      handle: async ({ params, query, principal }) => ({
        queue: await removeQueue(
          database,
          principal,
          await queueFor(database, principal, query.project_id, params.queue_id),
        ),
      }),
    }),
  ]
}
