/** Runs of evaluations and their rows: `/calls/stream_query`, `/v2/…/eval_results/query`, `/objs/query`. */
import type { objectList } from "@heddle/server/wire/objects/object.ts"
import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import { type EvalRun, evalRunOf } from "../../evaluations/eval-run.ts"
import { type ResultRow, type RunRows, runRows } from "../../evaluations/run-rows.ts"
import { elementTexts, type JsonText, memberTexts } from "../../json/json-text.ts"
import type { ApiError } from "../api-error.ts"
import { type CallsQuery, callsQuery, readCalls, useCalls } from "../calls/calls.ts"
import { send, sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"
import { runFilter } from "./run-filter.ts"

const pageRuns = 100
const runningMs = 3_000
const idleMs = 15_000

/** Columns read of a run's call; the calls below it are its rows. */
const runColumns = ["inputs", "display_name", "exception", "started_at", "ended_at"]

function runsQuery(projectId: string, evaluation?: string): CallsQuery {
  return {
    project_id: projectId,
    filter: runFilter(projectId),
    query: evaluation === undefined ? null : { $expr: { $or: [...named("inputs.self"), ...named("inputs.this")] } },
    sort_by: [{ field: "started_at", direction: "desc" }],
    columns: runColumns,
  }

  /** Any version of the object, or the plain name. */
  function named(field: string) {
    const input = { $getField: field }
    return [
      { $contains: { input, substr: { $literal: `/object/${evaluation}:` } } },
      { $eq: [input, { $literal: evaluation }] },
    ]
  }
}

/** The newest first, page after page; of one evaluation, or of all. */
export function useEvalRuns(projectId: string, evaluation?: string) {
  const body = runsQuery(projectId, evaluation)
  return useInfiniteQuery({
    ...infiniteQueryOptions<EvalRun[], ApiError, EvalRun[], unknown[], number>({
      queryKey: ["POST /calls/stream_query", body, "pages"],
      initialPageParam: 0,
      queryFn: async ({ pageParam: offset, signal }) =>
        (await readCalls({ ...body, limit: pageRuns, offset }, signal)).map(evalRunOf),
      getNextPageParam: (last, pages) => (last.length < pageRuns ? undefined : pages.length * pageRuns),
      select: ({ pages }) => pages.flat(),
    }),
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.some(({ status }) => status === "running")) === true ? runningMs : idleMs,
  })
}

/** Runs of a leaderboard that are read. */
export const mostBoardRuns = 1000

/** Runs of these versions of evaluations with what they came to, the newest first. */
export function useBoardRuns(projectId: string, evaluationRefs: readonly string[]) {
  const { filter, ...body } = runsQuery(projectId)
  const columns = [...runColumns, "output"]
  return useCalls(
    { ...body, filter: { ...filter, input_refs: [...evaluationRefs] }, columns, limit: mostBoardRuns },
    { refetchInterval: idleMs },
  )
}

/** Runs by their ids; those that are not there are left out. */
export function useRunsOf(projectId: string, runIds: readonly string[]) {
  const body = { project_id: projectId, filter: { call_ids: [...runIds] }, columns: runColumns }
  return useQuery({
    ...callsQuery(body),
    select: (calls) => runIds.flatMap((id) => calls.filter((call) => call.id === id).map(evalRunOf)),
    enabled: runIds.length > 0,
    // Runs of another comparison are none of this one.
    placeholderData: () => undefined,
    refetchInterval: ({ state }) => (state.data?.some(({ ended_at }) => ended_at == null) === true ? runningMs : false),
  })
}

/** More rows of a run than these are not read. */
const mostRows = 10_000
const rowsAtOnce = 1000

/** Rows of a run that goes on come often, and all are read anew. */
const rowsMs = 10_000

const rowsKey = (projectId: string, { id, status }: Pick<EvalRun, "id" | "status">) => [
  "POST eval_results/query",
  projectId,
  id,
  status === "running",
]

function rowsQuery(projectId: string, run: Pick<EvalRun, "id" | "status">) {
  return queryOptions<RunRows, ApiError>({
    queryKey: rowsKey(projectId, run),
    queryFn: async ({ signal }) => {
      const rows: ResultRow[] = []
      for (;;) {
        const body = {
          evaluation_call_ids: [run.id],
          include_model_outputs: false,
          include_costs: true,
          limit: rowsAtOnce,
          offset: rows.length,
        }
        const request = { method: "POST", path: resultsPath(projectId), body, signal } as const
        const answer = await sendForJson<{ rows: ResultRow[]; total_rows: number }>(request)
        rows.push(...answer.rows)
        const isOver = answer.rows.length === 0 || rows.length >= Math.min(mostRows, answer.total_rows)
        if (isOver) return runRows(run.id, rows, answer.total_rows)
      }
    },
    // A run that has ended is read once more; meanwhile it shows what it had.
    placeholderData: () => queryClient.getQueryData<RunRows>(rowsKey(projectId, { ...run, status: "running" })),
    staleTime: run.status === "running" ? 0 : Infinity,
    refetchInterval: run.status === "running" ? rowsMs : false,
    structuralSharing: false,
  })
}

/** The scores of every row of each run, without what the models answered. */
export function useRunRows(projectId: string, runs: readonly Pick<EvalRun, "id" | "status">[]) {
  return useQueries({ queries: runs.map((run) => rowsQuery(projectId, run)) })
}

/** A trial of one row, its payloads as text. */
export interface ComparedTrial {
  id: string
  output: JsonText
  scores: JsonText
}

export interface ComparedRow {
  digest: string
  /** The dataset row that the models were given, with the expected values. */
  data: JsonText
  /** In the order of the runs. */
  runs: readonly { runId: string; trials: readonly ComparedTrial[] }[]
}

/** One row with everything: inputs, and what each run answered. null: there is no such row. */
export function useComparedRow(projectId: string, runs: readonly Pick<EvalRun, "id" | "status">[], digest: string) {
  const runIds = runs.map(({ id }) => id)
  const isRunning = runs.some(({ status }) => status === "running")
  const keyOf = (whileRunning: boolean) => ["POST eval_results/query", projectId, "row", runIds, digest, whileRunning]
  return useQuery<ComparedRow | null, ApiError>({
    queryKey: keyOf(isRunning),
    queryFn: async ({ signal }) => {
      const [row] = await readRows(projectId, { evaluation_call_ids: runIds, ...withDigests([digest]) }, signal)
      return row ?? null
    },
    // As with all rows of a run.
    placeholderData: () => queryClient.getQueryData<ComparedRow | null>(keyOf(true)),
    staleTime: isRunning ? 0 : Infinity,
    refetchInterval: isRunning ? rowsMs : false,
  })
}

/** What the first trials of evaluations scored. */
export function useTrialScores(
  projectId: string,
  runIds: readonly string[],
  limit: number,
  { enabled }: { enabled: boolean },
) {
  const body = { evaluation_call_ids: runIds, include_model_outputs: false, limit }
  return useQuery({
    ...jsonQuery<{ rows: ResultRow[] }>("POST", resultsPath(projectId), body),
    select: ({ rows }) =>
      rows.flatMap(({ evaluations }) => evaluations).flatMap(({ trials }) => trials.map(({ scores }) => scores)),
    enabled,
  })
}

/** Inputs of the rows, read in blocks. */
export function useRowData(projectId: string, runIds: readonly string[], blocks: readonly (readonly string[])[]) {
  return useQueries({
    queries: blocks.map((digests) =>
      queryOptions<ReadonlyMap<string, JsonText>, ApiError>({
        queryKey: ["POST eval_results/query", projectId, "data", runIds, digests],
        queryFn: async ({ signal }) => {
          const body = {
            evaluation_call_ids: runIds,
            include_model_outputs: false,
            include_predict_and_score_children: false,
            ...withDigests(digests),
          }
          const rows = await readRows(projectId, body, signal)
          return new Map(rows.map(({ digest, data }) => [digest, data]))
        },
        staleTime: Infinity,
        placeholderData: () => undefined,
        structuralSharing: false,
      }),
    ),
  })
}

function withDigests(digests: readonly string[]) {
  const literals = digests.map((digest) => ({ $literal: digest }))
  return {
    include_raw_data_rows: true,
    resolve_row_refs: true,
    filters: [{ query: { $expr: { $in: [{ $getField: "row_digest" }, literals] } } }],
  }
}

async function readRows(projectId: string, body: object, signal: AbortSignal): Promise<ComparedRow[]> {
  const response = await send({ method: "POST", path: resultsPath(projectId), body, signal })
  return elementTexts(memberTexts(await response.text()).get("rows") ?? "[]").map(toComparedRow)
}

function toComparedRow(text: JsonText): ComparedRow {
  const members = memberTexts(text)
  return {
    digest: stringOf(members.get("row_digest")),
    data: members.get("raw_data_row") ?? nothing,
    runs: elementTexts(members.get("evaluations") ?? "[]").map((run) => {
      const ofRun = memberTexts(run)
      return {
        runId: stringOf(ofRun.get("evaluation_call_id")),
        trials: elementTexts(ofRun.get("trials") ?? "[]").map(toComparedTrial),
      }
    }),
  }
}

function toComparedTrial(text: JsonText): ComparedTrial {
  const members = memberTexts(text)
  return {
    id: stringOf(members.get("predict_and_score_call_id")),
    output: members.get("model_output") ?? nothing,
    scores: members.get("scores") ?? nothing,
  }
}

const nothing = "null" as JsonText

function stringOf(text: JsonText | undefined): string {
  return text === undefined ? "" : (JSON.parse(text) as string)
}

/** `/v2/<entity>/<project>/eval_results/query` */
function resultsPath(projectId: string): string {
  return `/v2/${projectId.split("/").map(encodeURIComponent).join("/")}/eval_results/query`
}

/** All versions of objects of a project, with their values: evaluations and models are small. */
export function useObjectVersions(projectId: string, objectIds: readonly string[]) {
  const body = { project_id: projectId, filter: { object_ids: [...objectIds] } }
  return useQuery({
    ...jsonQuery<z.output<typeof objectList>>("POST", "/objs/query", body),
    enabled: objectIds.length > 0,
    select: ({ objs }) => objs,
    staleTime: 60_000,
  })
}
