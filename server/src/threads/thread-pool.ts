/**
 * Threads for work on what clients send, so that no request stops the event loop that serves everybody: reading a body of
 * 32 MiB takes seconds, and a schema or a table that a user wrote may be made to take for ever. A task that takes too long,
 * or whose client has left, ends with its thread, and another thread takes the place of that one.
 */
import { fileURLToPath } from "node:url"
import { Piscina } from "piscina"
import { HeddleError } from "../errors.ts"
import type { Limits } from "../limits.ts"
import { FairQueue, halfOf } from "../work/fair-queue.ts"
import { machineMemory } from "../work/machine-memory.ts"
import { currentScope } from "../work/work-scope.ts"
import { MemoryWatch } from "./memory-watch.ts"
import { movableMemory, withBuffers } from "./moved-bytes.ts"
import type { ThreadReply, ThreadRequest } from "./task-runner.ts"
import { errorOf } from "./thread-failure.ts"
import { type Answering, runHere, type ThreadTask } from "./thread-task.ts"

export type ThreadLimits = Pick<
  Limits,
  | "payload_threads"
  | "payload_waiting_per_user"
  | "payload_waiting_total"
  | "payload_wait_ms"
  | "payload_work_ms"
  | "payload_memory_bytes"
>

const mebibyte = 1024 * 1024
/** Memory of a thread in buffers, for each byte that its heap may have: a row group of Parquet is read into two copies. */
const buffersOfHeap = 3
/** Of the machine's memory, what all threads together may have in their heaps, and as much again in buffers. */
const shareOfMemory = 0.25
/** Of a heap: with less, a thread cannot work. */
const leastHeapBytes = 64 * mebibyte
/** A thread takes some 40 MB; all but one are let go after a while without work. */
const idleMs = 60_000

export interface RunOptions<L, A> {
  /** Size of the payload, which decides where the task runs. */
  bytes: number
  answer: Answering<L, A>
}

export class ThreadPool {
  readonly #entry: string
  readonly #limits: ThreadLimits
  /** Of one thread. */
  readonly #heapBytes: number
  readonly #memory: MemoryWatch
  readonly queue: FairQueue
  #pool: Piscina | null = null

  /**
   * `entry`: the module that the threads load; it exports `runTask`, made by `taskRunner`. `memoryBytes`: what the machine has;
   * a small one gives threads less than their limit, as otherwise one request could take all of it.
   */
  constructor(entry: URL, limits: ThreadLimits, memoryBytes = machineMemory()) {
    this.#entry = fileURLToPath(entry)
    this.#limits = limits
    const share = (shareOfMemory * memoryBytes) / limits.payload_threads
    const { payload_memory_bytes: most } = limits
    this.#heapBytes = Math.max(leastHeapBytes, Math.min(most, share))
    const bufferBytes = Math.max(buffersOfHeap * leastHeapBytes, Math.min(buffersOfHeap * most, share))
    this.#memory = new MemoryWatch(() => this.#pool?.threads ?? [], bufferBytes)
    const { payload_threads: slots } = limits
    this.queue = new FairQueue({
      name: "payload_threads",
      work: "large requests",
      slots,
      slotsPerUser: halfOf(slots),
      slotsForLookups: 0,
      waitingPerUser: limits.payload_waiting_per_user,
      waitingTotal: limits.payload_waiting_total,
      longestWaitMs: limits.payload_wait_ms,
    })
  }

  /**
   * Runs a task: right here when its payload and what it looks up are small, else on a thread when it is the turn of the
   * caller's scope. Bytes that are fields of `input`, or in lists there, are gone afterwards.
   * @throws {HeddleError} what the task throws; 413 it takes too long or too much memory; 429 and 503 as `FairQueue.run`.
   * @throws the reason of the scope's signal when the client has left.
   */
  async run<I extends object, R extends object, L, A>(
    task: ThreadTask<I, R, L, A>,
    input: I,
    { bytes, answer }: RunOptions<L, A>,
  ): Promise<R> {
    const progress = bytes < task.ownThreadBytes ? await runHere(task, input, answer) : { answers: [] }
    if ("result" in progress) return progress.result
    const { answers } = progress
    let request: ThreadRequest = { task: task.name, input, answers }
    for (;;) {
      const current = request
      const reply = await this.queue.run("heavy", () => this.#onThread(current))
      if (reply.kind === "failure") throw errorOf(reply.failure)
      if (reply.kind === "result") return withBuffers(reply.value) as R
      answers.push((await answer(reply.lookup as L)).value)
      request = { ...request, input: reply.value }
    }
  }

  async close(): Promise<void> {
    const pool = this.#pool
    this.#pool = null
    await pool?.destroy()
  }

  async #onThread(request: ThreadRequest): Promise<ThreadReply> {
    const signal = currentScope()?.signal ?? null
    const { payload_work_ms: workMs } = this.#limits
    const late = AbortSignal.timeout(workMs)
    const ended = signal === null ? late : AbortSignal.any([signal, late])
    try {
      // Piscina takes the type of the list from another overload of `postMessage` than it calls.
      const options = { signal: ended, transferList: movableMemory(request.input) as never }
      return (await this.#memory.during(this.#threads().run(request, options))) as ThreadReply
    } catch (error) {
      signal?.throwIfAborted()
      if (late.aborted) throw tooMuch(`takes more than ${workMs / 1000} s of work`, error)
      if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY" && !this.#memory.hasEnded()) throw error
      throw tooMuch(`takes more than ${Math.floor(this.#heapBytes / mebibyte)} MiB of memory to be read`, error)
    }
  }

  #threads(): Piscina {
    this.#pool ??= new Piscina({
      filename: this.#entry,
      name: "runTask",
      minThreads: 1,
      maxThreads: this.#limits.payload_threads,
      idleTimeout: idleMs,
      resourceLimits: { maxOldGenerationSizeMb: this.#heapBytes / mebibyte },
    })
    return this.#pool
  }
}

function tooMuch(what: string, cause: unknown): HeddleError {
  const message = `the request ${what}. Send it in smaller parts`
  return new HeddleError("payload_too_large", message, { cause })
}
