/** Which base models can be trained, and where they lie (training-api 1.2, 1.1 row 2). */
import { access } from "node:fs/promises"
import path from "node:path"
import { invalid } from "../errors.ts"
import type { BaseRef } from "../wire/engine/base.ts"

/**
 * Asks the engine for a model of the model hub or its local cache. null: there is none.
 * @throws {HeddleError} `engine_unavailable` when no engine can tell.
 */
export type FindHubModel = (base: BaseRef) => Promise<{ path: string } | null>

export interface BaseModels {
  /** Names that need nothing from outside. */
  readonly shipped: readonly string[]
  /** @throws {HeddleError} 422 on `base_model` that says what was looked for. */
  find(name: string): Promise<BaseRef>
}

/** `shippedPaths`: model name → folder. */
export function createBaseModels(shippedPaths: ReadonlyMap<string, string>, findHubModel: FindHubModel): BaseModels {
  async function find(name: string): Promise<BaseRef> {
    const folder = shippedPaths.get(name) ?? (path.isAbsolute(name) ? name : null)
    if (folder !== null) {
      if (await hasConfig(folder)) return { name, path: folder }
      throw unknownBase(`"${name}": there is no file ${path.join(folder, "config.json")} on the server`)
    }
    if (!/^[\w.-]+(\/[\w.-]+)?$/.test(name)) {
      throw unknownBase(
        `"${name}" is neither a model-hub path such as Qwen/Qwen3-0.6B nor an absolute folder on the server`,
      )
    }
    const base = { name, path: null }
    if ((await findHubModel(base)) !== null) return base
    const shipped = [...shippedPaths.keys()].join(", ")
    throw unknownBase(
      `"${name}" was found neither in the engine's local model cache nor on the model hub. ` +
        `Use ${shipped}, the absolute path of a folder on the server, or a model that the engine's host can download`,
    )
  }
  return { shipped: [...shippedPaths.keys()], find }
}

async function hasConfig(folder: string): Promise<boolean> {
  return access(path.join(folder, "config.json")).then(
    () => true,
    () => false,
  )
}

function unknownBase(message: string) {
  return invalid(["body", "base_model"], message)
}
