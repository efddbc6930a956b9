/**
 * Stops merges while the disk is nearly full. A merge replaces parts that are whole, for minutes, and chDB does not notice
 * when it finds no room meanwhile: rows that were stored long before would be gone.
 */
import { freeBytes } from "../../file-system/disk-space.ts"

/** More than inserts and statements leave free, so that they go on while no merge does. */
const leastFreeBytes = 32 * 1024 ** 2
/** A merge that others leave less and less room must end in time. */
const lookEveryMs = 200

export class MergePause {
  readonly #folder: string
  readonly #run: (statement: string) => Promise<void>
  readonly #timer: NodeJS.Timeout
  #isPaused = false
  #looking: Promise<void> | null = null

  /** `run` executes a statement in the store. */
  constructor(folder: string, run: (statement: string) => Promise<void>) {
    this.#folder = folder
    this.#run = run
    this.#timer = setInterval(() => this.#look(), lookEveryMs).unref()
  }

  /** Nothing runs afterwards. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  #look(): void {
    // What fails is tried again at the next look.
    this.#looking ??= this.#decide()
      .catch(() => undefined)
      .finally(() => (this.#looking = null))
  }

  async #decide(): Promise<void> {
    const isShort = (await freeBytes(this.#folder)) < leastFreeBytes
    if (isShort === this.#isPaused) return
    await this.#run(isShort ? "system stop merges" : "system start merges")
    this.#isPaused = isShort
  }
}
