/** `file_stream`, by which a run sends what it logs: platform-wandb 6. */
import type { FastifyRequest } from "fastify"
import { type Route, route } from "../../http/route.ts"
import { keepShift, type RunFields, type RunRecord, updateRun } from "../../storage/catalog/runs/runs.ts"
import { usageOf } from "../../storage/team-usage.ts"
import { insertHistory } from "../../storage/traces/runs/run-history.ts"
import { insertRunLines } from "../../storage/traces/runs/run-lines.ts"
import { jobSegments } from "../../storage/traces/runs/run-tables.ts"
import { noLookups } from "../../threads/thread-task.ts"
import { fileStreamAnswer, fileStreamBody, fileStreamParams } from "../../wire/platform/run.ts"
import { sourceOf } from "./branch-point.ts"
import { requireRun } from "./run-access.ts"
import type { RunDependencies } from "./run-dependencies.ts"
import { readRunDocument } from "./run-document.ts"
import { mergedDocuments, type SentDocuments, updateSharedRun } from "./shared-run.ts"
import { fileStreamTask, type StreamResult } from "./stream-task.ts"

export function fileStreamRoute(dependencies: RunDependencies): Route {
  const { database, threads, limits } = dependencies
  return route({
    method: "POST",
    path: "/files/:entity/:project/:run/file_stream",
    access: { right: "write", of: "run path.entity/project/run", ingest: true },
    dialect: "graphql",
    summary: "What a run logs: history, summary, system rows, console lines, heartbeat and end",
    tag: "Runs",
    schemas: { params: fileStreamParams },
    rawBody: true,
    bodyDocument: fileStreamBody,
    response: fileStreamAnswer,
    refusals: ["404"],
    handle: async ({ params, principal, body, request }) => {
      const { run, entity } = await requireRun(database, principal, params)
      const bytes = body.length
      if (bytes > 2) await usageOf(database)?.requireRoom(entity)
      const segment = segmentOf(request)
      // In shared mode each process counts its own lines from 0.
      const base = (file: "console" | "events") =>
        segment === "" ? { base: run[`${file}_base`], shift: run[`${file}_shift`] } : { base: 0, shift: 0 }
      const result = await threads.run(
        fileStreamTask,
        {
          bytes: body,
          projectId: run.project_id,
          runId: run.id,
          segment,
          console: base("console"),
          events: base("events"),
          mostRowBytes: limits.run_row_bytes,
        },
        { bytes, answer: noLookups },
      )
      await store(dependencies, run, result, segment)
      return run.stop_requested && result.exitCode === null ? { stopped: true } : {}
    },
  })
}

/** Lines first: what the run's row says of it is true when it is written. */
async function store(
  dependencies: RunDependencies,
  run: RunRecord,
  result: StreamResult,
  segment: string,
): Promise<void> {
  const { database, traces } = dependencies
  const { history, lines, summary, consoleShift, eventsShift, preempting, exitCode } = result
  const isRunning = exitCode === null
  const fields: RunFields = {
    state: isRunning ? (preempting ? "preempting" : "running") : exitCode === 0 ? "finished" : "failed",
    exit_code: exitCode,
    ...(isRunning ? {} : { stop_requested: false }),
  }
  const isShared = segment !== ""
  const name = "wandb-summary.json"
  const sent: SentDocuments = summary === null ? {} : { summary: { name, text: summary.toString("utf8") } }
  // Before anything is stored: a summary that is none refuses the whole request.
  if (isShared) Object.assign(fields, await mergedDocuments(dependencies, run, sent))
  else if (sent.summary !== undefined) {
    // The client of a fork does not know what the summary of the source had: platform-wandb 5.6.
    const kept = sourceOf(run.name, run.config) === null ? null : run.summary
    fields.summary = await readRunDocument(dependencies, name, sent.summary.text, kept)
  }
  const shifts = isShared ? { console: null, events: null } : { console: consoleShift, events: eventsShift }
  // Before the lines: when they are sent again after a failure, they go to the same place.
  for (const file of ["console", "events"] as const) {
    const shift = shifts[file]
    if (shift !== null && run[`${file}_shift`] === null) await keepShift(database, run, file, shift)
  }
  await insertHistory(traces, run.project_id, history)
  await insertRunLines(traces, run.project_id, lines)
  if (isShared) await updateSharedRun(dependencies, run, { fields, sent }, { isHeard: true })
  else await updateRun(database, run, fields, { isHeard: true })
}

function segmentOf({ headers }: FastifyRequest): string {
  const isShared = headers["x-wandb-use-async-filestream"] === "true"
  const client = headers["x-wandb-async-client-id"]
  if (!isShared || typeof client !== "string") return ""
  return client.startsWith(jobSegments) ? `client:${client}` : client
}
