/** Calls that a filter and a query match. */
import { HeddleError, invalid } from "../../../errors.ts"
import type { ProjectAccess } from "../../../access/project-access.ts"
import { retentionDays } from "../../../storage/catalog/accounts/call-retention.ts"
import { printPayloads } from "../../../storage/traces/calls/print-payloads.ts"
import type { Operand, Query } from "../../../wire/queries/query.ts"
import type { TrainingSource } from "../../../wire/training/train-from.ts"
import type { TrainingDependencies } from "../../dependencies.ts"
import type { RowPlan } from "../row-plan.ts"
import { bytesOfChunks, type RowChunk, wholeLines } from "../row-source.ts"

type CallsSource = Extract<TrainingSource, { kind: "calls" }>

export async function* callRows(
  { database, traces }: Pick<TrainingDependencies, "database" | "traces">,
  project: ProjectAccess,
  plan: RowPlan,
  source: CallsSource,
): AsyncGenerator<RowChunk> {
  const { filter, limit } = source
  const request = { ids: null, fields: plan.fields, filter: filter ?? {}, query: queryOf(source), limit: limit ?? null }
  const kept = await retentionDays(database, project.id)
  const stream = await printed(() =>
    printPayloads(traces, { projectId: project.id, projectName: project.name, retentionDays: kept, ...request }),
  )
  for await (const lines of wholeLines(stream, bytesOfChunks(plan.kind))) yield { lines, extras: null, wanted: null }
}

/** Turns unknown fields and expressions of the request into errors. */
async function printed<T>(print: () => Promise<T>): Promise<T> {
  try {
    return await print()
  } catch (error) {
    if (error instanceof HeddleError && ["invalid_field", "bad_query", "value_error"].includes(error.code)) {
      throw invalid(["body", "source"], error.message)
    }
    throw error
  }
}

function queryOf({ query, feedback_type: type }: CallsSource): Query | null {
  if (type == null) return query ?? null
  const hasFeedback: Operand = { $convert: { input: { $getField: `feedback.[${type}].id` }, to: "exists" } }
  const isThere: Operand = { $eq: [hasFeedback, { $literal: true }] }
  return { $expr: query == null ? isThere : { $and: [query.$expr, isThere] } }
}
