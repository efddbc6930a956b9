/** Labels of a queue's items, agreement and adjudication. */
import { type Route, route } from "../../http/route.ts"
import {
  finalLabelAnswer,
  finalLabelBody,
  finalLabelDropped,
  finalLabelParams,
  labelledItems,
  labelsQueryBody,
  queueAgreement,
} from "../../wire/labelling/annotation-label.ts"
import { ofProject, queueParams } from "../../wire/labelling/annotation-queue.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { decide, withdrawDecision } from "./adjudication.ts"
import { measureAgreement, queryLabels, toFinalLabel } from "./labels.ts"
import { queueFor } from "./queues.ts"

const shared = { dialect: "reason", tag: "Annotation queues" } as const
const finalLabelPath = "/annotation_queues/:queue_id/items/:item_id/final_labels/:field"

export function annotationLabelRoutes(dependencies: StoreDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      ...shared,
      method: "POST",
      path: "/annotation_queues/:queue_id/labels/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "Items with what their annotators say, disputed ones or all, a page at a time",
      schemas: { params: queueParams, body: labelsQueryBody },
      response: labelledItems,
      handle: async ({ params, body, principal }) => {
        const access = await queueFor(database, principal, body.project_id, params.queue_id)
        return queryLabels(dependencies, access, body)
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/annotation_queues/:queue_id/agreement",
      access: { right: "read", of: "project query.project_id" },
      summary: "How far a queue's annotators agree, field by field",
      schemas: { params: queueParams, query: ofProject },
      response: queueAgreement,
      handle: async ({ params, query, principal }) => {
        const access = await queueFor(database, principal, query.project_id, params.queue_id)
        return measureAgreement(dependencies, access)
      },
    }),
    route({
      ...shared,
      method: "PUT",
      path: finalLabelPath,
      access: { right: "write", of: "project body.project_id" },
      summary: "Decide what the label of an item is: one of those given, or another value",
      schemas: { params: finalLabelParams, body: finalLabelBody },
      response: finalLabelAnswer,
      handle: async ({ params, body, principal, exactBody }) => {
        const access = await queueFor(database, principal, body.project_id, params.queue_id)
        const { item_id: itemId, field } = params
        const choice =
          body.feedback_id == null
            ? { valueText: JSON.stringify((exactBody() as { value: unknown }).value) }
            : { feedbackId: body.feedback_id }
        const label = await decide(dependencies, access, { itemId, field, choice, note: body.note ?? null })
        return { final_label: toFinalLabel(label) }
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: finalLabelPath,
      access: { right: "write", of: "project query.project_id" },
      summary: "Take the decision about a label back",
      schemas: { params: finalLabelParams, query: ofProject },
      response: finalLabelDropped,
      handle: async ({ params, query, principal }) => {
        const access = await queueFor(database, principal, query.project_id, params.queue_id)
        await withdrawDecision(dependencies, access, params.item_id, params.field)
        return {}
      },
    }),
  ]
}
