/**
 * Ends threads whose buffers take too much memory. A thread's own limit counts what lies in its heap, and no buffers: a file
 * whose few bytes stand for a list of two billion numbers would take the memory of the machine.
 */
import { setImmediate as nextTurn } from "node:timers/promises"
import type { Worker } from "node:worker_threads"

/** In so long a thread fills some hundred megabytes. */
const lookMs = 200

export class MemoryWatch {
  readonly #threads: () => readonly Worker[]
  readonly #mostBytes: number
  /** Threads that have not said yet how much they hold. */
  readonly #asked = new Set<Worker>()
  /** Threads that were ended here, and whose tasks have not failed yet. */
  readonly #ended = new Set<Worker>()
  #tasks = 0
  #timer: NodeJS.Timeout | undefined

  constructor(threads: () => readonly Worker[], mostBytes: number) {
    this.#threads = threads
    this.#mostBytes = mostBytes
  }

  /** Looks at the threads as long as one of them is at this work. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#tasks += 1
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref()
    try {
      return await work
    } finally {
      this.#tasks -= 1
      if (this.#tasks === 0) {
        clearInterval(this.#timer)
        this.#timer = undefined
      }
    }
  }

  /** Whether a task has just failed because its thread was ended here. */
  hasEnded(): boolean {
    const [thread] = this.#ended
    return thread !== undefined && this.#ended.delete(thread)
  }

  #look(): void {
    for (const thread of this.#threads()) {
      if (this.#asked.has(thread)) continue
      this.#asked.add(thread)
      void this.#lookAt(thread).finally(() => this.#asked.delete(thread))
    }
  }

  async #lookAt(thread: Worker): Promise<void> {
    // A thread that has ended meanwhile says nothing any more.
    const found = await thread.getHeapStatistics().catch(() => null)
    if (found === null || found.external_memory <= this.#mostBytes) return
    this.#ended.add(thread)
    await thread.terminate()
    await nextTurn()
    this.#ended.delete(thread)
  }
}
