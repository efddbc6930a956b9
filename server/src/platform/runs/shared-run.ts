/** A run that several processes write at the same time: each has its own members of config and summary (platform-wandb 6.4). */
import { findRun, type RunFields, type RunRecord, updateUnchangedRun } from "../../storage/catalog/runs/runs.ts"
import { readRunDocument } from "./run-document.ts"
import type { RunDependencies } from "./run-dependencies.ts"

interface SentDocument {
  /** In messages. */
  name: string
  /** JSON text. */
  text: string
}

/** What a process says of the run. */
export interface SentDocuments {
  config?: SentDocument
  summary?: SentDocument
}

type Dependencies = Pick<RunDependencies, "database" | "threads" | "limits">

/** The documents of `run` with the members that were sent in place of those of their names. @throws {HeddleError} as `readRunDocument`. */
export async function mergedDocuments(
  dependencies: Dependencies,
  run: RunRecord,
  { config, summary }: SentDocuments,
): Promise<Pick<RunFields, "config" | "summary">> {
  const merged: Pick<RunFields, "config" | "summary"> = {}
  if (config !== undefined) merged.config = await readRunDocument(dependencies, config.name, config.text, run.config)
  if (summary !== undefined)
    merged.summary = await readRunDocument(dependencies, summary.name, summary.text, run.summary)
  return merged
}

/**
 * Writes fields of the run with documents that were merged with those of `run`. Where another process has written one of them
 * since `run` was read, they are merged anew, or what it set would be lost.
 */
export async function updateSharedRun(
  dependencies: Dependencies,
  run: RunRecord,
  { fields, sent }: { fields: RunFields; sent: SentDocuments },
  how: { isHeard: boolean },
): Promise<RunRecord> {
  const { database } = dependencies
  let known = run
  let written = fields
  for (;;) {
    const updated = await updateUnchangedRun(database, known, written, how)
    if (updated !== null) return updated
    const found = await findRun(database, run.project_id, run.name)
    if (found === null || found.id !== run.id) return run
    known = found
    written = { ...fields, ...(await mergedDocuments(dependencies, found, sent)) }
  }
}
