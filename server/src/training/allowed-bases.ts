/**
 * Which base models members may train beside those that are shipped. Administrators may train any. Without the list, any key
 * could use every model folder that the server can read, find out what is on the disk, and fill it with downloads.
 */
import path from "node:path"

/** `Qwen/Qwen3-0.6B`. No part begins with a dot and none holds "..": the name becomes that of a folder in the hub's cache. */
export function isHubName(name: string): boolean {
  return /^\w[\w.-]*(\/\w[\w.-]*)?$/.test(name) && !name.includes("..")
}

export class AllowedBases {
  readonly #names: ReadonlySet<string>

  /**
   * `entries`: names of a hub, absolute paths of folders, `*` for all.
   * @throws {Error} with a sentence for the operator when one is none of these.
   */
  constructor(entries: readonly string[]) {
    const wrong = entries.find((entry) => entry !== "*" && !path.isAbsolute(entry) && !isHubName(entry))
    if (wrong !== undefined) {
      throw new Error(
        `HEDDLE_BASE_MODELS: "${wrong}" is neither a model-hub path such as Qwen/Qwen3-0.6B nor an absolute folder nor *`,
      )
    }
    this.#names = new Set(entries.map(spelling))
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  allows(name: string): boolean {
    return this.#names.has("*") || this.#names.has(spelling(name))
  }
}

/** One spelling of a path. Nothing is looked up, since a member who may not use a folder must not learn whether it exists. */
function spelling(name: string): string {
  return path.isAbsolute(name) ? path.resolve(name) : name
}
