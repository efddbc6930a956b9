import type { ExampleNames } from "../example-names.ts"
import type { Operations } from "../operation.ts"

const ofQueue = ({ queueId: queue_id }: ExampleNames) => ({ queue_id })
const ofItem = ({ queueId: queue_id, itemId: item_id }: ExampleNames) => ({ queue_id, item_id })
const inBody = ({ projectId: project_id }: ExampleNames) => ({ body: { project_id } })
const inQuery = ({ projectId: project_id }: ExampleNames) => ({ query: { project_id } })

export const annotationOperations: Operations = {
  "POST /annotation_queues": {
    description:
      "Publish the annotation specs first (`/obj/create` with the class `AnnotationSpec`): they say what is asked.",
    example: (h) => ({
      body: { project_id: h.projectId, name: h.queueName, scorer_refs: [h.specRef], required_annotators: 2 },
    }),
  },
  "POST /annotation_queues/query": {
    description: "Lists all queues of a project, or those with a name.",
    example: (h) => ({ body: { project_id: h.projectId, name: h.queueName } }),
  },
  "POST /annotation_queues/stats": {
    description: "Answers for many queues at once, as lists of queues need it.",
    example: (h) => ({ body: { project_id: h.projectId, queue_ids: [h.queueId] } }),
  },
  "POST /annotation_queues/work": {
    description:
      "Returns what a page about queues shows: progress, the people at work, and the caller's own counts and rights. Queues that do not exist are left out.",
    example: (h) => ({ body: { project_id: h.projectId, queue_ids: [h.queueId] } }),
  },
  "GET /annotation_queues/:queue_id": {
    description: "Returns what the queue asks, and how many annotators each item needs.",
    example: (h) => ({ ...inQuery(h), params: ofQueue(h) }),
  },
  "PUT /annotation_queues/:queue_id": {
    description: "Labels that were given before stay.",
    example: (h) => ({
      params: ofQueue(h),
      body: { project_id: h.projectId, description: "Which tone has the answer?" },
    }),
  },
  "DELETE /annotation_queues/:queue_id": {
    description: "Its items go with it; the labels stay, as feedback on the calls.",
    example: (h) => ({ ...inQuery(h), params: ofQueue(h) }),
  },
  "POST /annotation_queues/:queue_id/items": {
    description: "Calls that are in the queue already are counted as duplicates.",
    example: (h) => ({
      params: ofQueue(h),
      body: { project_id: h.projectId, call_ids: [h.callId], display_fields: ["inputs.question", "output"] },
    }),
  },
  "POST /annotation_queues/:queue_id/items/query": {
    description: "Each item comes with the state of each of its annotators.",
    example: (h) => ({ params: ofQueue(h), body: { project_id: h.projectId, limit: 20 } }),
  },
  "POST /annotation_queues/:queue_id/items/next": {
    description:
      "Annotators ask this for their next item. Nobody else gets their place at it while the lease lasts. `item` is null when nothing is left. `ahead` leases further items too, which go to others when these would have none.",
    example: (h) => ({ params: ofQueue(h), ...inBody(h) }),
  },
  "PUT /annotation_queues/:queue_id/items/:item_id/lease": {
    description: "Refused when others hold all places at the item.",
    example: (h) => ({ params: ofItem(h), body: { project_id: h.projectId, lease_seconds: 900 } }),
  },
  "POST /annotation_queues/:queue_id/items/:item_id/progress": {
    description: "Send `completed` after the labels are given (`/feedback/create`), or `skipped`.",
    example: (h) => ({ params: ofItem(h), body: { project_id: h.projectId, annotation_state: "completed" } }),
  },
  "POST /annotation_queues/:queue_id/items/:item_id/progress/undo": {
    description: "The item is the caller's again, under a lease.",
    example: (h) => ({ params: ofItem(h), ...inBody(h) }),
  },
  "DELETE /annotation_queues/:queue_id/items/:item_id/lease": {
    description: "Does nothing if the caller has no lease.",
    example: (h) => ({ ...inQuery(h), params: ofItem(h) }),
  },
  "GET /annotation_queues/:queue_id/items/:item_id/history": {
    description: "Returns who did what and when, with what they took back.",
    example: (h) => ({ ...inQuery(h), params: ofItem(h) }),
  },
  "DELETE /annotation_queues/:queue_id/items/:item_id": {
    description: "Its labels stay, as feedback on the call.",
    example: (h) => ({ ...inQuery(h), params: ofItem(h) }),
  },
  "POST /annotation_queues/:queue_id/labels/query": {
    description: "The example asks for the disputes that nobody has decided yet.",
    example: (h) => ({ params: ofQueue(h), body: { project_id: h.projectId, disputed: true, adjudicated: false } }),
  },
  "GET /annotation_queues/:queue_id/agreement": {
    description:
      "Returns percent agreement, Cohen's and Fleiss' kappa and Krippendorff's alpha, as far as the labels allow.",
    example: (h) => ({ ...inQuery(h), params: ofQueue(h) }),
  },
  "PUT /annotation_queues/:queue_id/items/:item_id/final_labels/:field": {
    description: "Give `feedback_id`, one of the annotators' labels, or a `value` of your own.",
    example: (h) => ({
      params: { ...ofItem(h), field: h.specId },
      body: { project_id: h.projectId, value: "friendly" },
    }),
  },
  "DELETE /annotation_queues/:queue_id/items/:item_id/final_labels/:field": {
    description: "The annotators' labels stay; the item is disputed again.",
    example: (h) => ({ ...inQuery(h), params: { ...ofItem(h), field: h.specId } }),
  },
}
