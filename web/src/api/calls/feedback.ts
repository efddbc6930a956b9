/** Feedback on calls: `/feedback/create`, `/feedback/query`. */
import type { feedbackCreateBody, feedbackCreated } from "@heddle/server/wire/labelling/feedback.ts"
import { infiniteQueryOptions, useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { byPages } from "../pages.ts"
import { jsonQuery, queryClient } from "../queries.ts"

type Created = z.output<typeof feedbackCreated>
export type NewFeedback = z.input<typeof feedbackCreateBody>

export function useGiveFeedback() {
  return useMutation<Created, ApiError, NewFeedback>({
    mutationFn: (body) => sendForJson<Created>({ method: "POST", path: "/feedback/create", body }),
    onSuccess: (_, given) => readFeedbackAgain(given),
  })
}

/** A call that is open shows it; rows and trees are read again in their own time. */
export async function readFeedbackAgain({ weave_ref }: NewFeedback): Promise<void> {
  void queryClient.invalidateQueries({ queryKey: ["POST /feedback/query pages"] })
  await queryClient.invalidateQueries({
    queryKey: ["POST /calls/stream_query"],
    predicate: ({ queryKey }) => JSON.stringify(queryKey[1]).includes(`"${weave_ref.split("/").at(-1)}"`),
  })
}

interface FeedbackPage {
  result: { feedback_type: string; payload: Record<string, unknown> }[]
}

export interface FeedbackRow {
  id: string
  feedback_type: string
  payload: Record<string, unknown>
  creator: string | null
  wb_user_id: string | null
  runnable_ref: string | null
  /** Of what it was said: a call as a rule. */
  weave_ref: string
  created_at: string
}

interface FeedbackRows {
  result: FeedbackRow[]
  total_count: number
}

const fields = ["id", "feedback_type", "payload", "creator", "wb_user_id", "runnable_ref", "weave_ref", "created_at"]
const pageRows = 100
const newMs = 10_000

/** Feedback that meets all conditions, the newest first, page after page. What comes in meanwhile moves no row of a later page. */
export function useFeedbackPages(project_id: string, conditions: readonly object[]) {
  return useInfiniteQuery(
    infiniteQueryOptions<
      FeedbackRows,
      ApiError,
      { rows: FeedbackRow[]; total: number },
      unknown[],
      { offset: number; until: string | null }
    >({
      queryKey: ["POST /feedback/query pages", project_id, conditions],
      initialPageParam: { offset: 0, until: null },
      queryFn: ({ pageParam: { offset, until }, signal }) => {
        const operands = until === null ? conditions : [...conditions, notAfter(until)]
        const query = operands.length === 0 ? {} : { query: { $expr: { $and: operands } } }
        const sort_by = [{ field: "created_at", direction: "desc" }]
        const body = { project_id, fields, ...query, sort_by, limit: pageRows, offset }
        return sendForJson({ method: "POST", path: "/feedback/query", body, signal })
      },
      getNextPageParam: (last, pages) => {
        if (last.result.length < pageRows) return undefined
        return { offset: pages.length * pageRows, until: pages[0]?.result[0]?.created_at ?? null }
      },
      select: ({ pages }) => ({
        rows: pages.flatMap(({ result }) => result),
        total: pages[0]?.total_count ?? 0,
      }),
      refetchInterval: byPages(newMs),
    }),
  )
}

function notAfter(time: string) {
  return { $not: [{ $gt: [{ $getField: "created_at" }, { $literal: time }] }] }
}

/** The project's newest feedback: its types and what it says. */
export function useNewestFeedback(project_id: string, limit: number, { enabled }: { enabled: boolean }) {
  const sort_by = [{ field: "created_at", direction: "desc" }]
  const body = { project_id, fields: ["feedback_type", "payload"], sort_by, limit }
  return useQuery({
    ...jsonQuery<FeedbackPage>("POST", "/feedback/query", body),
    select: ({ result }) => result,
    enabled,
  })
}
