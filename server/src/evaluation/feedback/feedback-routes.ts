/** `/feedback/…`: evaluation-store-objects 2.3, 2.4 and 5. */
import { type Route, route } from "../../http/route.ts"
import type { FeedbackRow } from "../../storage/traces/feedback/feedback-rows.ts"
import {
  feedbackBatchBody,
  feedbackBatchCreated,
  feedbackCreateBody,
  feedbackCreated,
  feedbackPage,
  feedbackReplaceBody,
} from "../../wire/evaluation/feedback.ts"
import { rowPurgeBody, rowQueryBody, rowsPurged } from "../../wire/evaluation/row-query.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { exactRequest } from "../requests/exact-request.ts"
import { readFeedback, readFeedbackBatch, readFeedbackReplacement } from "./feedback-body.ts"
import { createFeedback, replaceFeedback } from "./feedback-create.ts"
import { purgeFeedback } from "./feedback-purge.ts"
import { queryFeedback } from "./feedback-query.ts"

const shared = { method: "POST", access: "key", dialect: "reason", tag: "Feedback" } as const
const json = "application/json; charset=utf-8"

export function feedbackRoutes(dependencies: EvaluationDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/feedback/create",
      summary: "Attach feedback to something by its ref",
      schemas: {},
      rawBody: true,
      bodyDocument: feedbackCreateBody,
      response: feedbackCreated,
      handle: async ({ body, principal, reply }) => {
        const [row] = await createFeedback(dependencies, principal, [readFeedback(body)])
        await reply.type(json).send(row === undefined ? "{}" : createdText(row))
      },
    }),
    route({
      ...shared,
      path: "/feedback/batch/create",
      summary: "Attach many pieces of feedback: all of them or none",
      schemas: {},
      rawBody: true,
      bodyDocument: feedbackBatchBody,
      response: feedbackBatchCreated,
      handle: async ({ body, principal, reply }) => {
        const rows = await createFeedback(dependencies, principal, readFeedbackBatch(body))
        await reply.type(json).send(`{"res":[${rows.map(createdText).join(",")}]}`)
      },
    }),
    route({
      ...shared,
      path: "/feedback/replace",
      summary: "Put new feedback in the place of an old one",
      schemas: {},
      rawBody: true,
      bodyDocument: feedbackReplaceBody,
      response: feedbackCreated,
      handle: async ({ body, principal, reply }) => {
        const { feedbackId, item } = readFeedbackReplacement(body)
        await reply.type(json).send(createdText(await replaceFeedback(dependencies, principal, feedbackId, item)))
      },
    }),
    route({
      ...shared,
      path: "/feedback/purge",
      summary: "Delete feedback by id",
      schemas: { body: rowPurgeBody },
      response: rowsPurged,
      handle: async ({ body, principal }) => purgeFeedback(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/feedback/query",
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

function createdText({ id, created_at, wb_user_id, payload }: FeedbackRow): string {
  return `${JSON.stringify({ id, created_at, wb_user_id }).slice(0, -1)},"payload":${payload}}`
}
