/** Asks the engine for a checkpoint as other programs read it. */
import type { BaseRef } from "../wire/engine/base.ts"
import type { ExportDtype, ExportFormat } from "../wire/engine/export.ts"
import { adapterRef, type CheckpointFiles } from "./adapter-ref.ts"
import { type Engine, EngineFailure, engineStartMs } from "./engine.ts"
import { toTransferError } from "./engine-transfers.ts"

export interface CheckpointExport extends CheckpointFiles {
  base: BaseRef
  modelId: string
  format: ExportFormat
  dtype: ExportDtype | null
  title: string
  tenant: string
}

export interface ExportTarget {
  output: string
  /** Told how many bytes it will take, before any is written. What it rejects with ends the export. */
  planned: (sizeBytes: number) => Promise<void>
  signal: AbortSignal
}

/** Bytes of what was written. @throws {HeddleError} */
export async function exportCheckpoint(
  engine: Engine,
  dataDir: string,
  { base, modelId, format, dtype, title, tenant, ...files }: CheckpointExport,
  { output, planned, signal }: ExportTarget,
): Promise<number> {
  const refusal = new AbortController()
  try {
    await engine.ready(engineStartMs)
    const adapter = adapterRef(dataDir, modelId, files)
    const params = { base, adapter, format, dtype, title, tenant, output: { path: output } }
    const call = engine.call("checkpoint.export", params, AbortSignal.any([signal, refusal.signal]))
    const watched = watch(call.events, planned, refusal)
    const [{ size_bytes: sizeBytes }] = await Promise.all([call.result, watched])
    return sizeBytes
  } catch (error) {
    const cause: unknown = refusal.signal.aborted ? refusal.signal.reason : error
    throw cause instanceof EngineFailure ? toTransferError(cause, "the export") : cause
  }
}

async function watch(
  events: AsyncIterable<{ data: { size_bytes: number } }[]>,
  planned: (sizeBytes: number) => Promise<void>,
  refusal: AbortController,
): Promise<void> {
  try {
    for await (const batch of events) {
      for (const { data } of batch) await planned(data.size_bytes)
    }
  } catch (error) {
    refusal.abort(error)
    throw error
  }
}
