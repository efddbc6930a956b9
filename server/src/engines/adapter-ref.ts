import path from "node:path"
import type { AdapterRef } from "../wire/engine/chat.ts"

/** The engine's name for a model's weights at a step. They never change, so it may cache them under this name. */
export function adapterKey(modelId: string, step: number): string {
  return `${modelId}@${step}`
}

/** `path`: in the data folder; null: the initial adapter, which is the base model's own function. */
export function adapterRef(
  dataDir: string,
  modelId: string,
  { step, path: relative }: { step: number; path: string | null },
): AdapterRef | null {
  return relative === null ? null : { key: adapterKey(modelId, step), path: path.join(dataDir, relative) }
}
