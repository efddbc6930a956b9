/** Stores the spans of an export request as calls: evaluation-store-calls 8. */
import type { CallWriter } from "../../storage/traces/calls/calls-write.ts"
import { ExportOutcome } from "./otlp-answer.ts"
import type { ResourceProjects } from "./resource-project.ts"
import { sourceText } from "./span-dump.ts"
import { SpanRows } from "./span-rows.ts"
import type { ResourceSpans } from "./trace-request.ts"

/**
 * What can be stored of the request is stored at once; the outcome tells what cannot.
 * @throws {HeddleError} when that is all of it; 503.
 */
export async function exportSpans(
  writer: CallWriter,
  projects: ResourceProjects,
  all: readonly ResourceSpans[],
): Promise<ExportOutcome> {
  const outcome = new ExportOutcome()
  const rows = new SpanRows(all.reduce((sum, one) => sum + countOf(one), 0))
  for (const one of all) await addRows(rows, projects, one, outcome)
  outcome.assertAnyAccepted()
  await writer.add(rows.batch())
  return outcome
}

async function addRows(
  rows: SpanRows,
  projects: ResourceProjects,
  one: ResourceSpans,
  outcome: ExportOutcome,
): Promise<void> {
  const { resource, scopeSpans } = one
  const spans = countOf(one)
  const project = spans === 0 ? null : await outcome.needed(spans, () => projects.of(resource))
  if (project === null) return
  for (const { scope, spans: ofScope } of scopeSpans) {
    const source = sourceText(resource, scope)
    for (const span of ofScope) {
      try {
        rows.add(span, source, project)
        outcome.accept()
      } catch (error) {
        outcome.reject(error)
      }
    }
  }
}

function countOf({ scopeSpans }: ResourceSpans): number {
  return scopeSpans.reduce((sum, { spans }) => sum + spans.length, 0)
}
