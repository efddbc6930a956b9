/** Stores the spans of an export request as spans of agents: evaluation-store-calls 10. */
import { insertAgentSpans, type NewAgentSpan } from "../../../storage/traces/agents/span-table.ts"
import type { TraceStore } from "../../../storage/traces/store/trace-store.ts"
import { ExportOutcome } from "../../otel/otlp-answer.ts"
import type { ResourceProjects } from "../../otel/resource-project.ts"
import { sourceText } from "../../otel/span-dump.ts"
import { cannotStore } from "../../otel/span-rows.ts"
import { findFault } from "../../otel/span-rules.ts"
import type { ResourceSpans, Span } from "../../otel/trace-request.ts"
import type { ProjectAccess } from "../../project-access.ts"
import { mapAgentSpan } from "./span-mapping.ts"

/**
 * What can be stored of the request is stored at once; the outcome tells what cannot.
 * @throws {HeddleError} when that is all of it.
 */
export async function exportAgentSpans(
  traces: TraceStore,
  projects: ResourceProjects,
  all: readonly ResourceSpans[],
): Promise<ExportOutcome> {
  const outcome = new ExportOutcome()
  const rows: NewAgentSpan[] = []
  for (const { resource, scopeSpans } of all) {
    const count = scopeSpans.reduce((sum, { spans }) => sum + spans.length, 0)
    const project = count === 0 ? null : await outcome.needed(count, () => projects.of(resource))
    if (project === null) continue
    for (const { scope, spans } of scopeSpans) {
      const source = sourceText(resource, scope)
      for (const span of spans) rows.push(...mapped(span, source, project, outcome))
    }
  }
  outcome.assertAnyAccepted()
  await insertAgentSpans(traces, rows)
  return outcome
}

/** Nothing of a span that cannot be stored. */
function mapped(span: Span, source: string, project: ProjectAccess, outcome: ExportOutcome): NewAgentSpan[] {
  try {
    const fault = findFault(span)
    if (fault !== null) throw cannotStore(span, fault)
    const row = mapAgentSpan(span, source, project)
    outcome.accept()
    return [row]
  } catch (error) {
    outcome.reject(error)
    return []
  }
}
