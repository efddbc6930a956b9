/** Which base models can be trained, by whom, and where they lie (training-api 1.2, 1.1 row 2). */
import { access, realpath } from "node:fs/promises"
import path from "node:path"
import { invalid } from "../errors.ts"
import type { BaseRef } from "../wire/engine/base.ts"
import { type AllowedBases, isHubName } from "./allowed-bases.ts"

/** `unsupported`: it was found, and the engine cannot compute it; the reason names what is wrong and what is supported. */
export type BaseCheck = { found: boolean } | { unsupported: string }

/**
 * Asks the engine, which finds models in folders, in its local cache and on the model hub.
 * @throws {HeddleError} `engine_unavailable` when no engine can tell.
 */
export type CheckBase = (base: BaseRef) => Promise<BaseCheck>

export interface BaseModels {
  /** Names that need nothing from outside. */
  readonly shipped: readonly string[]
  /** @throws {HeddleError} 422 on `base_model`: that it may not be used, the same whatever it is, or what was looked for. */
  find(name: string, caller: { isAdmin: boolean }): Promise<BaseRef>
}

export interface BaseModelSources {
  /** Model name → folder. The engine knows them all. */
  shipped: ReadonlyMap<string, string>
  /** Further base models that members may name. */
  allowed: AllowedBases
  checkBase: CheckBase
  /** false: folders are on the engine's machine. */
  foldersAreHere: boolean
}

export function createBaseModels({ shipped, allowed, checkBase, foldersAreHere }: BaseModelSources): BaseModels {
  const shippedNames = [...shipped.keys()]

  async function find(name: string, { isAdmin }: { isAdmin: boolean }): Promise<BaseRef> {
    const shippedFolder = shipped.get(name)
    if (shippedFolder !== undefined) return inFolder(name, shippedFolder)
    if (!isAdmin && !allowed.allows(name)) throw notAllowed(name, [...shippedNames, ...allowed.names])
    if (path.isAbsolute(name) && !foldersAreHere) {
      const folder = path.normalize(name)
      const base = { name: folder, path: folder }
      if (await isFound(base)) return base
      throw unusableBase(
        `"${folder}" is no model's folder in those that the engine reads models from (its option --models)`,
      )
    }
    if (path.isAbsolute(name)) {
      // One name for all spellings of a folder, and for links to it: each name would be another copy in memory.
      const folder = await realpath(name).catch(() => name)
      const base = await inFolder(folder, folder)
      if (await isFound(base)) return base
      throw noConfig(folder)
    }
    if (!isHubName(name)) {
      throw unusableBase(
        `"${name}" is neither a model-hub path such as Qwen/Qwen3-0.6B nor an absolute folder on the server`,
      )
    }
    const base = { name, path: null }
    if (await isFound(base)) return base
    throw unusableBase(
      `"${name}" was found neither in the engine's local model cache nor on the model hub. ` +
        `Use ${shippedNames.join(", ")}, the absolute path of a folder on the server, or a model that the engine's host can download`,
    )
  }
  async function isFound(base: BaseRef): Promise<boolean> {
    const check = await checkBase(base)
    if ("unsupported" in check) throw unusableBase(`"${base.name}": ${check.unsupported}`)
    return check.found
  }
  return { shipped: shippedNames, find }
}

async function inFolder(name: string, folder: string): Promise<BaseRef> {
  const config = path.join(folder, "config.json")
  const isThere = await access(config).then(
    () => true,
    () => false,
  )
  if (!isThere) throw noConfig(name, folder)
  return { name, path: folder }
}

function noConfig(name: string, folder = name) {
  return unusableBase(`"${name}": there is no file ${path.join(folder, "config.json")} on the server`)
}

function notAllowed(name: string, names: readonly string[]) {
  return unusableBase(
    `"${name}" is not among the base models that members may use (${names.join(", ")}). ` +
      "An administrator may use any: ask for a model made with their key, or for the name to be added to HEDDLE_BASE_MODELS",
  )
}

function unusableBase(message: string) {
  return invalid(["body", "base_model"], message)
}
