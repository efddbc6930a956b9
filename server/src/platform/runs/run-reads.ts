/** Reads of one GraphQL request from the trace store: one statement after the other, and a bounded number of them. */
import { HeddleError } from "../../errors.ts"
import { TraceStoreError } from "../../storage/traces/store/trace-store.ts"

/** The client lists 50 runs at a time with up to three reads each. */
const mostReads = 400

/** ClickHouse's code of a result that is larger than it may be. */
const tooManyBytes = 396

export class RunReads {
  #left = mostReads
  #refusal: HeddleError | null = null
  #last: Promise<unknown> = Promise.resolve()

  /** @throws {HeddleError} `invalid_request` when the request has asked for too much. */
  read<T>(work: () => Promise<T>): Promise<T> {
    if (this.#left-- <= 0) {
      const message = `the document reads what runs logged more than ${mostReads} times; ask for fewer runs or fields`
      this.#refusal = new HeddleError("invalid_request", message)
      return Promise.reject(this.#refusal)
    }
    const reading = this.#last
      .then(() => this.#unlessRefused(work))
      .catch((error: unknown) => {
        if (!(error instanceof TraceStoreError) || error.code !== tooManyBytes) throw error
        throw new HeddleError("payload_too_large", "these rows are too large for one answer; ask for fewer at a time", {
          cause: error,
        })
      })
    this.#last = reading.catch(() => undefined)
    return reading
  }

  /** A document is refused as a whole: of the reads that still wait none begins. */
  async #unlessRefused<T>(work: () => Promise<T>): Promise<T> {
    if (this.#refusal !== null) throw this.#refusal
    return work()
  }
}

/** Makes the value when it is asked for first. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => (made ??= make())
}
