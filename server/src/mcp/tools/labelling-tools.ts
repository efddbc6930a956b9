/** Annotation queues and feedback: who says what of which call. */
import { z } from "zod"
import { type AnnotationItem, type AnnotationQueue, asObjectRef } from "../../wire/labelling/annotation-queue.ts"
import type { QueueWorkAnswer } from "../../wire/labelling/annotation-work.ts"
import { longestNote } from "../../wire/labelling/feedback.ts"
import { type Api, pathPart } from "../api.ts"
import { shorten } from "../shorten.ts"
import { projectField, shortenedNote, type Tool, tool, ToolError } from "../tool.ts"
import { callSummary, showCall } from "./call-shapes.ts"
import { mostCharacters, readCall } from "./finding-tools.ts"

const queueField = z.string().min(1).describe("Id of a queue, as list_queues has it.")
const label = { right: "label", of: "project body.params.arguments.project" } as const
const noteType = "wandb.note.1"

export const labellingTools: readonly Tool[] = [
  tool({
    name: "list_queues",
    title: "List annotation queues",
    description: "Queues of calls that wait for labels, with how far each is. next_item hands out an item of one.",
    access: { right: "read", of: "project body.params.arguments.project" },
    input: z.strictObject({
      project: projectField,
      search: z.string().max(200).optional().describe("Part of the name, in any case."),
      limit: z.int().min(1).max(100).default(20),
      offset: z.int().min(0).max(1_000_000).default(0),
    }),
    output: z.object({
      queues: z.array(
        z.looseObject({ queue_id: z.string(), name: z.string(), description: z.string(), total_items: z.int() }),
      ),
      next_offset: z.int().nullable(),
    }),
    run: async ({ project: project_id, search, limit, offset }, api) => {
      const body = { project_id, name: search, limit: limit + 1, offset }
      const { lines } = await api.lines<AnnotationQueue>({ method: "POST", path: "/annotation_queues/query", body })
      const page = lines.slice(0, limit)
      const { queues } = await api.json<QueueWorkAnswer>({
        method: "POST",
        path: "/annotation_queues/work",
        body: { project_id, queue_ids: page.map(({ id }) => id) },
      })
      return {
        queues: page.map(({ id, name, description, scorer_refs: refs }) => {
          const work = queues.find((one) => one.queue_id === id)
          return {
            queue_id: id,
            name,
            description: shorten(description, 1000).value,
            fields: refs.map((ref) => nameOf(asObjectRef(ref))),
            total_items: work?.total_items ?? 0,
            ...(work === undefined ? {} : { items: work.items, own: work.own }),
          }
        }),
        next_offset: lines.length > limit ? offset + limit : null,
      }
    },
  }),
  tool({
    name: "next_item",
    title: "Take the next item to label",
    description:
      "Hands the caller the next item of a queue, under a lease: until it ends nobody else gets it. Asked again it gives the same " +
      "item. The answer has the call to judge and the fields to fill in, each with the JSON schema of its values; submit_label " +
      "sends them.",
    access: label,
    isRepeatable: true,
    input: z.strictObject({ project: projectField, queue_id: queueField }),
    output: z.object({
      item_id: z.string().nullable().describe("null: nothing is left for the caller, for now."),
      fields: z
        .array(z.looseObject({ field: z.string(), problem: z.string().optional() }))
        .describe("`problem`: why a field cannot be filled in."),
      call: callSummary.nullable(),
      lease_expires_at: z.string().nullable(),
      leased_by_others: z.int().describe("Items in other hands, which may come back."),
      note: shortenedNote,
    }),
    run: async ({ project, queue_id }, api) => {
      // Before an item is taken: what is refused here leaves none in the caller's hands.
      const fields = await fieldsOf(api, project, queue_id)
      const { item, lease, leased_by_others } = await api.json<{
        item: AnnotationItem | null
        lease: { expires_at: string } | null
        leased_by_others: number
      }>({
        method: "POST",
        path: `/annotation_queues/${pathPart("queue_id", queue_id)}/items/next`,
        body: { project_id: project },
      })
      const head = { fields, lease_expires_at: lease?.expires_at ?? null, leased_by_others }
      if (item === null) return { item_id: null, ...head, call: null, note: null }
      const { view, isShortened } = showCall(await readCall(api, project, item.call_id), mostCharacters)
      const note = isShortened ? "The call is shortened; get_call with `path` reads a part of it in full." : null
      return { item_id: item.id, ...head, call: view, note }
    },
  }),
  tool({
    name: "submit_label",
    title: "Label an item",
    description:
      "Stores the labels of an item and completes it, or skips it. Labels are stored all or none. Only who may write decides " +
      "which label is final where people disagree.",
    access: label,
    input: z.strictObject({
      project: projectField,
      queue_id: queueField,
      item_id: z.string().min(1).describe("Of next_item."),
      labels: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('A value for each field, by the field\'s name, such as {"tone": "rude"}. Left out only with skip.'),
      note: z.string().min(1).max(longestNote).optional().describe("Why, for the people who lead the queue."),
      skip: z.boolean().default(false).describe("true: give the item back unlabelled."),
    }),
    output: z.object({
      item_id: z.string(),
      state: z.string(),
      feedback_ids: z.array(z.string()).describe("What was stored, the labels first."),
    }),
    run: async ({ project, queue_id, item_id, labels = {}, note, skip }, api) => {
      const names = Object.keys(labels)
      if (skip === names.length > 0) {
        throw new ToolError(
          skip ? "labels: an item that is skipped takes none" : "labels: name at least one, or skip the item",
        )
      }
      const item = await itemOf(api, { project, queue_id, item_id })
      const refs = names.length === 0 ? [] : await refsOf(api, project, queue_id)
      const batch = names.map((name) => {
        const ref = refs.find((one) => nameOf(one) === name)
        if (ref === undefined) {
          throw new ToolError(`labels: the queue has no field "${name}"; it has ${refs.map(nameOf).join(", ")}`)
        }
        return {
          feedback_type: `wandb.annotation.${name}`,
          annotation_ref: ref,
          payload: { value: labels[name] },
        }
      })
      const notes = note === undefined ? [] : [{ feedback_type: noteType, payload: { note } }]
      const feedback_ids = await addFeedback(api, { project, callId: item.call_id, queue_id }, [...batch, ...notes])
      const answer = await api.json<{ item: AnnotationItem }>({
        method: "POST",
        path: `/annotation_queues/${pathPart("queue_id", queue_id)}/items/${pathPart("item_id", item_id)}/progress`,
        body: { project_id: project, annotation_state: skip ? "skipped" : "completed" },
      })
      return { item_id, state: answer.item.annotation_state, feedback_ids }
    },
  }),
  tool({
    name: "add_feedback",
    title: "Give feedback on a call",
    description:
      "Attaches a note, or a value under a name of your own, to a call. Values can be searched for as " +
      "feedback.[<type>].payload.value and trained on as score or correction, so use few names and the same meaning each time.",
    access: label,
    input: z.strictObject({
      project: projectField,
      call_id: z.string().min(1),
      note: z.string().min(1).max(longestNote).optional().describe("A text for people."),
      type: z.string().min(1).max(200).optional().describe("Name of the value, such as right or better_answer."),
      value: z.unknown().optional().describe("A number, true or false, a text or any other JSON."),
    }),
    output: z.object({ feedback_ids: z.array(z.string()) }),
    run: async ({ project, call_id, note, type, value }, api) => {
      if ((type === undefined) !== (value === undefined))
        throw new ToolError("type and value go together: one is missing")
      const given = [
        ...(type === undefined ? [] : [{ feedback_type: type, payload: { value } }]),
        ...(note === undefined ? [] : [{ feedback_type: noteType, payload: { note } }]),
      ]
      if (given.length === 0) throw new ToolError("give a note, or type and value")
      const { id } = await readCall(api, project, call_id)
      return { feedback_ids: await addFeedback(api, { project, callId: id }, given) }
    },
  }),
]

interface QueueField {
  field: string
  ref: string
  [more: string]: unknown
}

/** `weave:///e/p/object/tone:latest` → `tone`. */
function nameOf(ref: string): string {
  return /^weave:\/\/\/[^/]+\/[^/]+\/object\/([^:/]+)/.exec(ref)?.[1] ?? ref
}

/** The refs of its questions. */
async function refsOf(api: Api, project: string, queueId: string): Promise<string[]> {
  const { queue } = await api.json<{ queue: AnnotationQueue }>({
    method: "GET",
    path: `/annotation_queues/${pathPart("queue_id", queueId)}`,
    query: { project_id: project },
  })
  return queue.scorer_refs.map(asObjectRef)
}

async function fieldsOf(api: Api, project: string, queueId: string): Promise<QueueField[]> {
  const refs = await refsOf(api, project, queueId)
  const questions = await questionsOf(api, refs)
  return refs.map((ref, place) => ({ field: nameOf(ref), ref, ...questions[place] }))
}

const refusals = new Set<number | null>([400, 403, 404])

/** One that cannot be read, such as of a project that was deleted, keeps no other from being labelled. */
async function questionsOf(api: Api, refs: readonly string[]): Promise<object[]> {
  if (refs.length === 0) return []
  try {
    const { vals } = await api.json<{ vals: unknown[] }>({ method: "POST", path: "/refs/read_batch", body: { refs } })
    return refs.map((_, place) => {
      const { name, description, field_schema: schema } = (vals[place] ?? {}) as Record<string, unknown>
      return shorten({ name, description, value_schema: schema }, 4000).value as object
    })
  } catch (error) {
    if (!(error instanceof ToolError) || !refusals.has(error.status)) throw error
    if (refs.length === 1) return [{ problem: error.message }]
    const found: object[] = []
    for (const ref of refs) found.push(...(await questionsOf(api, [ref])))
    return found
  }
}

async function itemOf(
  api: Api,
  { project, queue_id, item_id }: { project: string; queue_id: string; item_id: string },
): Promise<AnnotationItem> {
  const { items } = await api.json<{ items: AnnotationItem[] }>({
    method: "POST",
    path: `/annotation_queues/${pathPart("queue_id", queue_id)}/items/query`,
    body: { project_id: project, filter: { id: item_id }, limit: 1 },
  })
  const [item] = items
  if (item === undefined) throw new ToolError(`no item "${item_id}" in the queue; next_item hands out items`)
  return item
}

async function addFeedback(
  api: Api,
  { project, callId, queue_id }: { project: string; callId: string; queue_id?: string },
  given: readonly object[],
): Promise<string[]> {
  if (given.length === 0) return []
  const shared = { project_id: project, weave_ref: `weave:///${project}/call/${callId}` }
  const { res } = await api.json<{ res: { id: string }[] }>({
    method: "POST",
    path: "/feedback/batch/create",
    body: { batch: given.map((one) => ({ ...shared, ...one, ...(queue_id === undefined ? {} : { queue_id }) })) },
  })
  return res.map(({ id }) => id)
}
