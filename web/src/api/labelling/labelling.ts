/** Requests of an annotator's page: `/annotation_queues/{queue_id}/items/…`, `/feedback/batch/create`. */
import type { leaseAnswer, nextItem, undoAnswer } from "@heddle/server/wire/labelling/annotation-lease.ts"
import { useQueries, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import { fieldOf, type LabelField } from "../../labelling/label-fields.ts"
import type { LabelRequests, WaitingItem } from "../../labelling/label-session.ts"
import { readRef, type StoredRef } from "../../objects/object-refs.ts"
import { ApiError } from "../api-error.ts"
import { workKey } from "./annotation-queues.ts"
import { type CallsQuery, callsQuery, readCalls } from "../calls/calls.ts"
import { type Request, send, sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"
import { sessionEnd, sessionEnded } from "../session-state.ts"

export function labelRequests(project_id: string, queueId: string): LabelRequests {
  const items = `/annotation_queues/${encodeURIComponent(queueId)}/items`
  const pathOf = (itemId: string) => `${items}/${encodeURIComponent(itemId)}`
  return {
    next: (ahead) =>
      withSignIn(() =>
        sendForJson<z.output<typeof nextItem>>({ method: "POST", path: `${items}/next`, body: { project_id, ahead } }),
      ),
    hold: async (itemId) => {
      const request: Request = { method: "PUT", path: `${pathOf(itemId)}/lease`, body: { project_id } }
      return (await withSignIn(() => sendForJson<z.output<typeof leaseAnswer>>(request))).item
    },
    begin: async (itemId) => {
      const body = { project_id, annotation_state: "in_progress" }
      await withSignIn(() => send({ method: "POST", path: `${pathOf(itemId)}/progress`, body }))
    },
    release: async (itemId) => {
      await withSignIn(() => send({ method: "DELETE", path: `${pathOf(itemId)}/lease`, query: { project_id } }))
    },
    save: async (entry) => {
      const batch = feedbackOf(project_id, queueId, entry)
      if (batch.length > 0)
        await withSignIn(() => send({ method: "POST", path: "/feedback/batch/create", body: { batch } }))
    },
    finish: async (itemId, annotation_state) => {
      const body = { project_id, annotation_state }
      await withSignIn(() => send({ method: "POST", path: `${pathOf(itemId)}/progress`, body }))
      countAgain()
    },
    undo: async (itemId) => {
      const request: Request = { method: "POST", path: `${pathOf(itemId)}/progress/undo`, body: { project_id } }
      const { lease } = await withSignIn(() => sendForJson<z.output<typeof undoAnswer>>(request))
      countAgain()
      return lease !== null
    },
  }
}

/** How far the queue is has changed. */
function countAgain(): void {
  void queryClient.invalidateQueries({ queryKey: [workKey] })
}

function feedbackOf(project_id: string, queue_id: string, { item, labels, note }: WaitingItem): object[] {
  const shared = { project_id, queue_id, weave_ref: `weave:///${project_id}/call/${item.call_id}` }
  return [
    ...labels.map(({ feedbackId, field, ref, value, suggestion }) => ({
      ...shared,
      id: feedbackId,
      feedback_type: `wandb.annotation.${field}`,
      annotation_ref: ref,
      payload: { value, ...(suggestion === null ? {} : { suggestion }) },
    })),
    ...(note === null
      ? []
      : [{ ...shared, id: note.feedbackId, feedback_type: "wandb.note.1", payload: { note: note.text } }]),
  ]
}

/**
 * When the session has ended, the page asks for the sign-in in place, as after every other request. Until it is renewed
 * nothing is sent: somebody else may sign in.
 */
async function withSignIn<Answer>(request: () => Promise<Answer>): Promise<Answer> {
  if (sessionEnd.hasEnded()) throw new ApiError("Your session has ended.", { status: 401, code: "signed_out" })
  try {
    return await request()
  } catch (error) {
    if (error instanceof ApiError && error.isSignedOut) sessionEnded()
    throw error
  }
}

interface Spec {
  obj: { val: unknown }
}

export interface LabelFields {
  fields: readonly LabelField[]
  /** Refs of the queue that ask nothing of people, or lead nowhere any more. */
  others: readonly string[]
  isReading: boolean
  error: ApiError | null
}

/** The questions of a queue, in its order: `/obj/read` of each spec. */
export function useLabelFields(refs: readonly string[]): LabelFields {
  const specs = refs.map(readSpecRef)
  return useQueries({
    queries: specs.map((ref) => ({
      ...jsonQuery<Spec>("POST", "/obj/read", {
        project_id: ref === null ? "" : `${ref.entity}/${ref.project}`,
        object_id: ref?.name ?? "",
        digest: ref?.version ?? "",
      }),
      enabled: ref?.kind === "object",
      staleTime: fieldsFreshMs,
    })),
    combine: (results) => {
      const found = results.map(({ data }, index) => {
        const ref = specs[index]
        return data === undefined || ref == null ? null : fieldOf(ref.text, ref.name, data.obj.val)
      })
      const isReading = results.some(({ isLoading }) => isLoading)
      const error = results.map((one) => one.error).find((one) => one !== null && !one.isNotFound) ?? null
      const others = isReading ? [] : refs.filter((_, index) => found[index] === null)
      return { fields: found.filter((field) => field !== null), isReading, error, others }
    },
  })
}

/** Queues take `scorer/<name>:<version>` too (evaluation-store-objects 6.2); labels and all else name the object. */
function readSpecRef(text: string): StoredRef | null {
  return readRef(text.replace(/^(weave:\/\/\/[^/]+\/[^/]+\/)scorer\//, "$1object/"))
}

const fieldsFreshMs = 60_000
const callFreshMs = 60_000

/** Calls of items, each with what was said of it, so that the next ones are there before they are asked for. */
export function useItemCalls(project_id: string, callIds: readonly string[]) {
  return useQueries({
    queries: callIds.map((id) => ({
      ...callsQuery({ project_id, filter: { call_ids: [id] }, limit: 1, include_feedback: true, columns: itemColumns }),
      placeholderData: () => undefined,
      staleTime: callFreshMs,
    })),
  })
}

const itemColumns = ["inputs", "output", "summary", "op_name", "display_name", "started_at", "ended_at", "exception"]

/** Publishes an annotation spec; its ref. */
export async function createField(
  project_id: string,
  object_id: string,
  val: { name: string; description: string; field_schema: object },
): Promise<string> {
  const obj = { project_id, object_id, builtin_object_class: "AnnotationSpec", val }
  const { digest } = await sendForJson<{ digest: string }>({ method: "POST", path: "/obj/create", body: { obj } })
  await queryClient.invalidateQueries({ queryKey: ["POST /objs/query"] })
  return `weave:///${project_id}/object/${object_id}:${digest}`
}

/** Ids of the newest calls that match, so many at most. */
export async function findCallIds(body: CallsQuery): Promise<string[]> {
  const calls = await readCalls({ ...body, columns: ["id"] }, new AbortController().signal)
  return calls.map(({ id }) => id)
}

interface NotePage {
  result: { id: string; payload: { note?: unknown }; wb_user_id: string; weave_ref: string; created_at: string }[]
  total_count: number
}

/** Notes that were given in a queue, the newest first: `/feedback/query`. */
export function useQueueNotes(project_id: string, queueId: string, limit: number) {
  const equal = (field: string, value: string) => ({ $eq: [{ $getField: field }, { $literal: value }] })
  const body = {
    project_id,
    fields: ["id", "payload", "wb_user_id", "weave_ref", "created_at"],
    query: { $expr: { $and: [equal("queue_id", queueId), equal("feedback_type", "wandb.note.1")] } },
    sort_by: [{ field: "created_at", direction: "desc" }],
    limit,
  }
  return useQuery({
    ...jsonQuery<NotePage>("POST", "/feedback/query", body),
    select: ({ result, total_count }: NotePage) => ({
      total_count,
      result: result.map(({ id, payload, wb_user_id, weave_ref, created_at }) => ({
        id,
        note: typeof payload.note === "string" ? payload.note : "",
        userId: wb_user_id,
        callId: weave_ref.split("/").at(-1) ?? "",
        at: created_at,
      })),
    }),
  })
}
