import path from "node:path"
import type { AdapterRef } from "../wire/engine/chat.ts"

/** The weights that a job is to make, whatever they will be. */
export function outputKey(modelId: string, step: number): string {
  return `${modelId}@${step}`
}

/** Files of a checkpoint, as its row names them. */
export interface CheckpointFiles {
  step: number
  /** In the data folder; null: the initial adapter, which is the base model's own function. */
  path: string | null
  /** Of `manifest.json`, which lists the files with their hashes. */
  manifestSha256: string | null
}

/**
 * The engine's name for a model's weights at a step. It tells their content, because the engine keeps in memory what jobs have
 * made that never became that step.
 */
export function adapterRef(
  dataDir: string,
  modelId: string,
  { step, path: relative, manifestSha256 }: CheckpointFiles,
): AdapterRef | null {
  if (relative === null) return null
  return { key: `${outputKey(modelId, step)}#${manifestSha256 ?? "unknown"}`, path: path.join(dataDir, relative) }
}
