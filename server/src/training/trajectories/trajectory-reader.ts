/**
 * The server's side of the reading thread: sends bodies over with back-pressure, brings results back. The thread begins with
 * the first body, so that a server that does not train has none.
 */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { diskFull, HeddleError, saysDiskFull } from "../../errors.ts"
import type { HeldBody } from "../../http/bodies/body-budget.ts"
import type { FromReader, ReadTrajectories, ToReader, TrajectoryFileFormat } from "./trajectory-messages.ts"

/** Bytes of one body on their way to the thread; more wait in the socket. */
const windowBytes = 4 * 1024 * 1024
const pingMs = 10_000

type Reply = Exclude<FromReader, { kind: "taken" }>

interface Reading {
  inFlight: number
  /** Bytes of the body that the thread holds. */
  held: number
  reply: Promise<Reply>
  settle: (reply: Reply) => void
  settled: boolean
  wake: () => void
}

export class TrajectoryReader {
  #worker: Worker | null = null
  #nextId = 0
  readonly #readings = new Map<number, Reading>()

  /**
   * Writes the trajectories of `body` to the new file `file`. The file is there, whole and synced,
   * only if the result has no issues. The body is read to its end even when it is refused, so that
   * the client gets to read the answer.
   * @throws {HeddleError} 400 not JSON; 413 one trajectory is too large; 503 no room for it; 507 the disk is full.
   */
  async read(
    body: AsyncIterable<Uint8Array>,
    file: string,
    format: TrajectoryFileFormat,
    held: HeldBody,
  ): Promise<ReadTrajectories> {
    const { id, reading } = this.#open()
    try {
      this.#post({ kind: "open", id, file, format })
      await this.#sendBody(id, reading, body, held)
      this.#post({ kind: "end", id })
      return resultOf(await reading.reply)
    } catch (error) {
      this.#post({ kind: "abort", id })
      // The thread may still be making the file: the error is thrown when the file is gone.
      await reading.reply
      throw error
    } finally {
      this.#readings.delete(id)
    }
  }

  /** Rejects when the thread does not answer. */
  async ping(): Promise<void> {
    const { id, reading } = this.#open()
    const timer = setTimeout(() => reading.settle(lost(id, `no answer within ${pingMs} ms`)), pingMs)
    this.#post({ kind: "ping", id })
    const reply = await reading.reply
    clearTimeout(timer)
    this.#readings.delete(id)
    if (reply.kind !== "pong") throw new Error("message" in reply ? reply.message : reply.kind)
  }

  async close(): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }

  #open(): { id: number; reading: Reading } {
    const id = this.#nextId++
    const { promise, resolve } = Promise.withResolvers<Reply>()
    const reading: Reading = { inFlight: 0, held: 0, reply: promise, settled: false, wake: () => {}, settle: () => {} }
    reading.settle = (reply) => {
      reading.settled = true
      resolve(reply)
      reading.wake()
    }
    this.#readings.set(id, reading)
    return { id, reading }
  }

  async #sendBody(id: number, reading: Reading, body: AsyncIterable<Uint8Array>, held: HeldBody): Promise<void> {
    for await (const bytes of body) {
      await held.atLeast(reading.held + reading.inFlight)
      while (reading.inFlight >= windowBytes && !reading.settled) {
        await new Promise<void>((resolve) => (reading.wake = resolve))
      }
      if (reading.settled) continue
      reading.inFlight += bytes.length
      this.#post({ kind: "chunk", id, bytes })
    }
  }

  #post(message: ToReader): void {
    this.#thread().postMessage(message)
  }

  #thread(): Worker {
    if (this.#worker !== null) return this.#worker
    const worker = new Worker(new URL("./trajectory-thread.ts", import.meta.url))
    worker.unref()
    worker.on("message", (message: FromReader) => this.#receive(message))
    void once(worker, "exit").then(
      () => this.#lose(worker, "the thread that reads training data has ended"),
      (error: Error) => this.#lose(worker, `the thread that reads training data has failed: ${error.message}`),
    )
    this.#worker = worker
    return worker
  }

  #receive(message: FromReader): void {
    const reading = this.#readings.get(message.id)
    if (reading === undefined) return
    if (message.kind !== "taken") return reading.settle(message)
    reading.inFlight -= message.bytes
    reading.held = message.held
    reading.wake()
  }

  #lose(worker: Worker, message: string): void {
    if (this.#worker === worker) this.#worker = null
    for (const [id, reading] of this.#readings) reading.settle(lost(id, message))
  }
}

function lost(id: number, message: string): Reply {
  return { kind: "failed", id, message, code: null }
}

function resultOf(reply: Reply): ReadTrajectories {
  if (reply.kind === "done") return reply.result
  if (reply.kind === "refused") {
    if (reply.reason === "too_large") throw new HeddleError("payload_too_large", reply.message)
    throw new HeddleError("bad_request", `the request body is not JSON: ${reply.message}`)
  }
  if (reply.kind === "failed" && saysDiskFull(reply.code)) {
    throw diskFull()
  }
  throw new Error(reply.kind === "failed" ? reply.message : "unexpected answer of the reading thread")
}
