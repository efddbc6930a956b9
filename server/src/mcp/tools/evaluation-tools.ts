/** Tools that list the runs of evaluations, and compare runs with each other. */
import { z } from "zod"
import type { CallRecord } from "../../wire/calls/call-read.ts"
import type { evalResults } from "../../wire/evaluations/eval-results.ts"
import { pathPart } from "../api.ts"
import { shorten } from "../shorten.ts"
import { projectField, shortenedNote, type Tool, tool } from "../tool.ts"
import { spellingsOf } from "./call-conditions.ts"
import { factsOf } from "./call-shapes.ts"
import { mostCharacters } from "./finding-tools.ts"

const read = { right: "read", of: "project body.params.arguments.project" } as const

export const evaluationTools: readonly Tool[] = [
  tool({
    name: "list_evaluations",
    title: "List evaluation runs",
    description:
      "Runs of evaluations, the newest first, with the summary of their scores. compare_evaluations takes their evaluation_call_id.",
    access: read,
    input: z.strictObject({
      project: projectField,
      limit: z.int().min(1).max(50).default(10),
      offset: z.int().min(0).max(1_000_000).default(0),
    }),
    output: z.object({
      evaluations: z.array(
        z.looseObject({ evaluation_call_id: z.string(), status: z.string(), started_at: z.string() }),
      ),
      next_offset: z.int().nullable(),
      note: shortenedNote,
    }),
    run: async ({ project, limit, offset }, api) => {
      const { lines, isCut } = await api.lines<CallRecord>({
        method: "POST",
        path: "/calls/stream_query",
        body: {
          project_id: project,
          filter: { op_names: spellingsOf("Evaluation.evaluate", project) },
          sort_by: [{ field: "started_at", direction: "desc" }],
          columns: [
            "id",
            "trace_id",
            "parent_id",
            "op_name",
            "display_name",
            "inputs",
            "output",
            "exception",
            "started_at",
            "ended_at",
            "summary",
          ],
          limit: limit + 1,
          offset,
        },
      })
      const page = lines.slice(0, limit).map((call) => {
        const { inputs, output, exception } = call
        const shortened = shorten({ inputs, summary: output, exception }, Math.floor(mostCharacters / limit))
        const { call_id, status, started_at, duration_ms } = factsOf(call)
        const facts = { evaluation_call_id: call_id, name: call.display_name ?? null, status, started_at, duration_ms }
        return { ...shortened, value: { ...facts, ...(shortened.value as object) } }
      })
      const isShortened = page.some((one) => one.isShortened)
      return {
        evaluations: page.map(({ value }) => value),
        next_offset: isCut || lines.length > limit ? offset + page.length : null,
        note: isShortened ? "Inputs or scores are shortened; get_call reads one run in full." : null,
      }
    },
  }),
  tool({
    name: "compare_evaluations",
    title: "Compare evaluation runs",
    description:
      "Runs side by side: mean and pass rate of each scorer, tokens, cost, and rows with what each model answered and how it was " +
      "scored. With `changed_most` the rows come first whose score differs most between the runs: what got better or worse.",
    access: read,
    input: z.strictObject({
      project: projectField,
      evaluation_call_ids: z
        .array(z.string().min(1))
        .min(1)
        .max(5)
        .describe("Of list_evaluations; the first is the baseline."),
      rows: z.int().min(0).max(50).default(10).describe("How many rows; 0: only the statistics."),
      offset: z.int().min(0).max(1_000_000).default(0),
      common_rows_only: z.boolean().default(false).describe("true: only rows that every run has, in statistics too."),
      changed_most: z
        .string()
        .min(1)
        .max(1000)
        .optional()
        .describe("A score, as a row has it, such as exact_match or judge.score."),
    }),
    output: z.object({
      evaluations: z.array(z.unknown()).describe("Statistics of each run: scorer_stats, tokens, cost, model_ref."),
      rows: z.array(z.unknown()),
      total_rows: z.int(),
      next_offset: z.int().nullable(),
      warnings: z.array(z.string()),
      note: shortenedNote,
    }),
    run: async ({ project, evaluation_call_ids, rows: limit, offset, common_rows_only, changed_most }, api) => {
      const [entity = "", name = "", ...rest] = project.split("/")
      const parts = [entity, [name, ...rest].join("/")].map((part) => pathPart("project", part))
      const answer = await api.json<z.output<typeof evalResults>>({
        method: "POST",
        path: `/v2/${parts.join("/")}/eval_results/query`,
        body: {
          evaluation_call_ids,
          require_intersection: common_rows_only,
          include_summary: true,
          include_rows: limit > 0,
          include_raw_data_rows: true,
          resolve_row_refs: true,
          include_predict_and_score_children: false,
          ...(changed_most === undefined
            ? {}
            : { sort_by: [{ field: `scores.${changed_most}`, direction: "desc", mode: "difference" }] }),
          limit: Math.max(1, limit),
          offset,
        },
      })
      const statistics = shorten(answer.summary?.evaluations ?? [], Math.floor(mostCharacters / 3))
      const left = Math.floor((mostCharacters * 2) / 3 / Math.max(1, answer.rows.length))
      const rows = answer.rows.map((row) => shorten(row, left))
      const isShortened = statistics.isShortened || rows.some((row) => row.isShortened)
      const end = offset + rows.length
      return {
        evaluations: statistics.value,
        rows: rows.map(({ value }) => value),
        total_rows: answer.total_rows,
        next_offset: limit > 0 && end < answer.total_rows ? end : null,
        warnings: answer.warnings,
        note: isShortened
          ? "Rows or statistics are shortened: ask for fewer rows, or read a trial with get_call by its predict_and_score_call_id."
          : null,
      }
    },
  }),
  tool({
    name: "evaluate_model",
    title: "Run an evaluation",
    description:
      "Lets the server run a published evaluation on a published model, in the background: judges and prompts, not code of its own. " +
      "list_evaluations shows how far it is, compare_evaluations what came of it. Needs a key of the scope train or all.",
    access: { right: "write", of: "project body.params.arguments.project", train: true },
    input: z.strictObject({
      project: projectField,
      evaluation_ref: z.string().min(1).describe("Such as weave:///entity/project/object/my-evaluation:latest."),
      model_ref: z.string().min(1).describe("Such as weave:///entity/project/object/my-model:latest."),
    }),
    output: z.object({ evaluation_call_id: z.string() }),
    run: async ({ project: project_id, evaluation_ref, model_ref }, api) => {
      const body = { project_id, evaluation_ref, model_ref }
      const { call_id } = await api.json<{ call_id: string }>({
        method: "POST",
        path: "/evaluations/evaluate_model",
        body,
      })
      return { evaluation_call_id: call_id }
    },
  }),
]
