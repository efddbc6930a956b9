/** Handles both routes that take spans; they differ only in which spans also become spans of agents. */
import type { CallDependencies } from "../dependencies.ts"
import { runPayloadTask } from "../../objects/payload/run-payload-task.ts"
import { exportHandler } from "./export-handler.ts"
import { type AgentSpans, traceExportTask } from "./trace-export.ts"

export function traceExportHandler(
  dependencies: CallDependencies,
  agentSpans: AgentSpans,
): ReturnType<typeof exportHandler> {
  return exportHandler(dependencies, "rejectedSpans", async ({ principal, input, options, held }) => {
    const sent = { ...input, agentSpans }
    const { outcome, ...batch } = await runPayloadTask(dependencies, principal, traceExportTask, sent, options)
    await held.take(batch.rows.length + (batch.agentSpans?.length ?? 0))
    await dependencies.writer.add(batch)
    return outcome
  })
}
