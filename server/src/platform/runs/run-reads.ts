/** What one GraphQL request reads that may be large: one read after the other, and a bounded number of them and of bytes. */
import { HeddleError } from "../../errors.ts"
import { TraceStoreError } from "../../storage/traces/store/trace-store.ts"

/** The client lists 50 runs at a time with up to three reads each. */
const mostReads = 400
/** Configs, histories, metadata and the like. One read has at most about as much. */
const mostCharacters = 64 * 1024 ** 2

/** ClickHouse's code of a result that is larger than it may be. */
const tooManyBytes = 396

export class RunReads {
  #left = mostReads
  #charactersLeft = mostCharacters
  #refusal: HeddleError | null = null
  #last: Promise<unknown> = Promise.resolve()

  /** Of what runs logged. @throws {HeddleError} `invalid_request` when the request has asked for too much, and as {@link load}. */
  read<T>(work: () => Promise<T>): Promise<T> {
    if (this.#left-- <= 0) {
      const message = `the document reads what runs logged more than ${mostReads} times; ask for fewer runs or fields`
      this.#refusal = new HeddleError("invalid_request", message)
      return Promise.reject(this.#refusal)
    }
    return this.load(() =>
      work().catch((error: unknown) => {
        if (!(error instanceof TraceStoreError) || error.code !== tooManyBytes) throw error
        throw tooLarge("these rows are", error)
      }),
    )
  }

  /** Of rows of the catalog with texts of clients. @throws {HeddleError} `payload_too_large`: the request has read too much. */
  load<T>(work: () => Promise<T>): Promise<T> {
    const reading = this.#last.then(() => this.#unlessRefused(work))
    this.#last = reading.catch(() => undefined)
    return reading
  }

  /** A document is refused as a whole: of the reads that still wait none begins. */
  async #unlessRefused<T>(work: () => Promise<T>): Promise<T> {
    if (this.#refusal !== null) throw this.#refusal
    const found = await work()
    this.#charactersLeft -= sizeOf(found)
    if (this.#charactersLeft >= 0) return found
    this.#refusal = tooLarge("what the document asks for is")
    throw this.#refusal
  }
}

function tooLarge(what: string, cause?: unknown): HeddleError {
  return new HeddleError("payload_too_large", `${what} too large for one answer; ask for fewer at a time`, { cause })
}

/** About how many characters a value has as JSON. */
export function sizeOf(value: unknown): number {
  let size = 0
  // What a client logged may nest deeper than calls do.
  const left = [value]
  while (left.length > 0) {
    const one = left.pop()
    size += typeof one === "string" ? one.length : 4
    if (typeof one !== "object" || one === null) continue
    for (const inner of Object.values(one)) left.push(inner)
    if (!Array.isArray(one)) for (const name of Object.keys(one)) size += name.length
  }
  return size
}

/** Makes the value when it is asked for first. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => (made ??= make())
}
