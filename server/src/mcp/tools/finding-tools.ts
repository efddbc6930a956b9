/** Projects, calls and traces: what happened, and where it went wrong. */
import { z } from "zod"
import type { CallRecord } from "../../wire/calls/call-read.ts"
import type { Project } from "../../wire/platform/project-list.ts"
import type { Api } from "../api.ts"
import { beginningOf, shorten, sizeOf } from "../shorten.ts"
import { projectField, shortenedNote, type Tool, tool, ToolError } from "../tool.ts"
import { callSelection, selectionOf } from "./call-conditions.ts"
import { callColumns, payloadColumns, callSummary, showCall } from "./call-shapes.ts"
import { foldTrace, traceNode } from "./trace-tree.ts"

/** Of one answer: some ten thousand tokens. */
export const mostCharacters = 36_000
/** Counting more takes long and says no more. */
const mostCounted = 10_000
const mostTraceCalls = 5_000

export const findingTools: readonly Tool[] = [
  tool({
    name: "list_projects",
    title: "List projects",
    description:
      "Projects that the key may read, the newest first. Every other tool takes one of them by its name entity/project.",
    access: { right: "read", of: "teams" },
    input: z.strictObject({
      search: z.string().max(200).optional().describe("Part of the name, in any case."),
      after: z.string().optional().describe("next_after of the page before."),
      limit: z.int().min(1).max(100).default(50),
    }),
    output: z.object({
      projects: z.array(z.object({ project: z.string(), created_at: z.string() })),
      next_after: z.string().nullable(),
    }),
    run: async ({ search, after, limit }, api) => {
      const page = await api.json<{ data: Project[]; has_more: boolean; last_id: string }>({
        method: "GET",
        path: "/v1/projects",
        query: { query: search, after, limit },
      })
      return {
        projects: page.data.map(({ entity, name, created_at }) => ({ project: `${entity}/${name}`, created_at })),
        next_after: page.has_more ? page.last_id : null,
      }
    },
  }),
  tool({
    name: "search_calls",
    title: "Search calls",
    description:
      "Find traced calls: those that failed, are slow, hold a text, or have some feedback. Failures are where summary.weave.status " +
      "is error. With `facets` it also counts how often each value of some fields occurs among all that match, which shows what " +
      "failures have in common. Then get_trace shows the whole trace of a call, and get_call one call in full.",
    access: { right: "read", of: "project body.params.arguments.project" },
    input: z.strictObject({
      project: projectField,
      ...callSelection,
      order: z.enum(["newest", "oldest", "slowest"]).default("newest"),
      payloads: z.boolean().default(true).describe("false: without inputs and outputs, which are shortened anyway."),
      facets: z
        .array(z.string().min(1))
        .max(8)
        .optional()
        .describe("Fields to count values of, such as op_name, exception, inputs.model."),
      limit: z.int().min(1).max(50).default(10),
      offset: z.int().min(0).max(1_000_000).default(0),
    }),
    output: z.object({
      calls: z.array(callSummary),
      count: z.int().describe(`How many match; at most ${mostCounted} are counted.`),
      count_is_complete: z.boolean(),
      next_offset: z.int().nullable().describe("offset of the next page; null: there is none."),
      facets: z.array(z.looseObject({ field: z.string() })).optional(),
      note: shortenedNote,
    }),
    run: async (input, api) => {
      const { project: project_id, order, limit, offset, payloads, facets } = input
      const chosen = { project_id, ...selectionOf(project_id, input) }
      const { lines, isCut } = await api.lines<CallRecord>({
        method: "POST",
        path: "/calls/stream_query",
        body: {
          ...chosen,
          sort_by: [sortKeys[order]],
          columns: [...callColumns, ...(payloads ? payloadColumns : [])],
          include_feedback: true,
          limit,
          offset,
        },
      })
      if (isCut && lines.length === 0) throw tooLarge()
      const { count, has_more } = await api.json<{ count: number; has_more: boolean }>({
        method: "POST",
        path: "/calls/query_stats",
        body: { ...chosen, limit: mostCounted },
      })
      const counted = facets === undefined ? null : await facetsOf(api, chosen, facets)
      const most = Math.floor(mostCharacters / Math.max(lines.length, 5))
      const page = lines.map((call) => showCall(call, most, { payloads }))
      const end = offset + lines.length
      return {
        calls: page.map((each) => each.view),
        count,
        count_is_complete: !has_more,
        next_offset: lines.length > 0 && (end < count || has_more) ? end : null,
        ...(counted === null ? {} : { facets: counted }),
        note: page.some((each) => each.isShortened)
          ? "Inputs, outputs or feedback are shortened; get_call reads one call, and with `path` one part of it in full."
          : null,
      }
    },
  }),
  tool({
    name: "get_trace",
    title: "Read a trace as a tree",
    description:
      "All calls of a trace as a tree, without payloads: which function called which, how long each took, what failed. Calls " +
      "alike beside each other are folded into one line; those that failed are never folded. get_call reads one of them.",
    access: { right: "read", of: "project body.params.arguments.project" },
    input: z.strictObject({ project: projectField, trace_id: z.string().min(1) }),
    output: z.object({
      calls: z.int().describe("How many calls the trace has, as far as they were read."),
      failed: z.int(),
      tree: z.array(traceNode),
      note: shortenedNote,
    }),
    run: async ({ project, trace_id }, api) => {
      const { lines, isCut } = await api.lines<CallRecord>({
        method: "POST",
        path: "/calls/stream_query",
        body: {
          project_id: project,
          filter: { trace_ids: [trace_id] },
          sort_by: [{ field: "started_at", direction: "asc" }],
          columns: callColumns,
          limit: mostTraceCalls,
        },
      })
      if (lines.length === 0) throw new ToolError(`no trace "${trace_id}" in "${project}"; search_calls finds traces`)
      return foldTrace(lines, { isCut: isCut || lines.length === mostTraceCalls, mostCharacters })
    },
  }),
  tool({
    name: "get_call",
    title: "Read a call",
    description:
      "One call with inputs, output, attributes, summary and feedback. What is large is shortened; `path` reads one part of the " +
      "call by itself, and of a long text a page from `offset` on.",
    access: { right: "read", of: "project body.params.arguments.project" },
    input: z.strictObject({
      project: projectField,
      call_id: z.string().min(1),
      path: z
        .string()
        .min(1)
        .max(1000)
        .optional()
        .describe("Names and places in lists with dots between, such as inputs.messages.0.content."),
      offset: z.int().min(0).optional().describe("Of a text at `path`: the first character."),
    }),
    output: z.object({
      call_id: z.string(),
      path: z.string().nullable(),
      value: z.unknown().describe("The call, or what it has at `path`."),
      total_characters: z.int().describe("Of the value as it is stored."),
      next_offset: z.int().nullable().describe("Of a text: offset of the next page; null: this is its end."),
      note: shortenedNote,
    }),
    run: async ({ project, call_id, path = null, offset = 0 }, api) => {
      const call = await readCall(api, project, call_id)
      const value = path === null ? call : partOf(call, path)
      const head = { call_id, path, total_characters: typeof value === "string" ? value.length : sizeOf(value) }
      if (typeof value === "string") {
        const page = beginningOf(value.slice(offset), mostCharacters)
        const end = offset + page.length
        return { ...head, value: page, next_offset: end < value.length && page !== "" ? end : null, note: null }
      }
      const { value: excerpt, isShortened } = shorten(value, mostCharacters)
      const note = isShortened ? "Parts are shortened; `path` reads one of them by itself." : null
      return { ...head, value: excerpt, next_offset: null, note }
    },
  }),
]

const sortKeys = {
  newest: { field: "started_at", direction: "desc" },
  oldest: { field: "started_at", direction: "asc" },
  slowest: { field: "summary.weave.latency_ms", direction: "desc" },
} as const

interface Facet {
  field: string
  values: object[]
  has_more: boolean
}

async function facetsOf(api: Api, chosen: object, facets: readonly string[]): Promise<unknown[]> {
  const answer = await api.json<{ facets: Facet[]; counted: number }>({
    method: "POST",
    path: "/calls/facets",
    body: { ...chosen, facets, limit: 20 },
  })
  return answer.facets.map((facet) => shorten({ ...facet, counted_calls: answer.counted }, 4000).value)
}

/** @throws {ToolError} when it is not there. */
export async function readCall(api: Api, project: string, callId: string): Promise<CallRecord> {
  const { lines, isCut } = await api.lines<CallRecord>({
    method: "POST",
    path: "/calls/stream_query",
    body: { project_id: project, filter: { call_ids: [callId] }, include_feedback: true, limit: 1 },
  })
  const [call] = lines
  if (call !== undefined) return call
  if (isCut) throw tooLarge()
  throw new ToolError(`no call "${callId}" in "${project}"; search_calls finds calls`)
}

function tooLarge(): ToolError {
  return new ToolError(
    "the call is larger than a tool reads; search_calls with payloads: false shows what it is, and POST /calls/stream_query " +
      "of the API reads it whole",
  )
}

/** @throws {ToolError} naming what there is instead. */
function partOf(call: object, path: string): unknown {
  let value: unknown = call
  const parts = path.split(".")
  for (const [index, part] of parts.entries()) {
    const isHolder = typeof value === "object" && value !== null && !JSON.isRawJSON(value)
    if (!isHolder || !Object.hasOwn(value as object, part)) {
      const names = isHolder ? Object.keys(value as object).slice(0, 30) : []
      const at = index === 0 ? "the call" : `"${parts.slice(0, index).join(".")}"`
      const has = names.length === 0 ? "no members" : names.map((name) => `"${name}"`).join(", ")
      throw new ToolError(`path: there is no "${part}" in ${at}, which has ${has}`)
    }
    value = (value as Record<string, unknown>)[part]
  }
  return value
}
