/** `/feedback/…`: evaluation-store-objects 2.3, 2.4 and 5. */
import { type Route, route } from "../../http/route.ts"
import {
  feedbackBatchBody,
  feedbackBatchCreated,
  feedbackCreateBody,
  feedbackCreated,
  feedbackPage,
  feedbackReplaceBody,
} from "../../wire/labelling/feedback.ts"
import { rowPurgeBody, rowQueryBody, rowsPurged } from "../../wire/queries/row-query.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { exactRequest } from "../../http/bodies/exact-request.ts"
import { createSentFeedback } from "./feedback-create.ts"
import { purgeFeedback } from "./feedback-purge.ts"
import { queryFeedback } from "./feedback-query.ts"

const shared = { method: "POST", dialect: "reason", tag: "Feedback" } as const
const json = "application/json; charset=utf-8"

export function feedbackRoutes(dependencies: StoreDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/feedback/create",
      access: { right: "label", of: "project body.project_id", ingest: true },
      summary: "Attach feedback to something by its ref",
      schemas: {},
      rawBody: true,
      bodyDocument: feedbackCreateBody,
      response: feedbackCreated,
      handle: async (context) => {
        const answers = await createSentFeedback(dependencies, context.principal, "one", context.body)
        await context.reply.type(json).send(onlyOf(answers))
      },
    }),
    route({
      ...shared,
      path: "/feedback/batch/create",
      access: { right: "label", of: "project body.batch[].project_id", ingest: true },
      summary: "Attach many pieces of feedback: all of them or none",
      schemas: {},
      rawBody: true,
      bodyDocument: feedbackBatchBody,
      response: feedbackBatchCreated,
      handle: async (context) => {
        const answers = await createSentFeedback(dependencies, context.principal, "batch", context.body)
        await context.reply.type(json).send(Buffer.concat([Buffer.from('{"res":'), answers, Buffer.from("}")]))
      },
    }),
    route({
      ...shared,
      path: "/feedback/replace",
      access: { right: "write", of: "project body.project_id" },
      summary: "Put new feedback in the place of an old one",
      schemas: {},
      rawBody: true,
      bodyDocument: feedbackReplaceBody,
      response: feedbackCreated,
      handle: async (context) => {
        const answers = await createSentFeedback(dependencies, context.principal, "replacement", context.body)
        await context.reply.type(json).send(onlyOf(answers))
      },
    }),
    route({
      ...shared,
      path: "/feedback/purge",
      access: { right: "write", of: "project body.project_id" },
      summary: "Delete feedback by id",
      schemas: { body: rowPurgeBody },
      response: rowsPurged,
      handle: async ({ body, principal }) => purgeFeedback(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/feedback/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "Find feedback",
      schemas: { body: rowQueryBody },
      response: feedbackPage,
      handle: async (context) => {
        const { principal, reply } = context
        await reply.type(json).send(await queryFeedback(dependencies, principal, exactRequest(context)))
      },
    }),
  ]
}

/** The element of a JSON list that has one. */
function onlyOf(list: Buffer): Buffer {
  return list.subarray(1, -1)
}
