/** Answers of OTLP export requests (OTLP 1.x, "Success", "Partial success", "Failures"). */
import type { FastifyReply } from "fastify"
import { HeddleError } from "../../errors.ts"
import { protobufType } from "../../http/otlp-status.ts"
import { bytesField, numberField } from "../../http/protobuf-message.ts"
import type { OtlpEncoding } from "./otlp-encoding.ts"

/** What messages name; more of them would say nothing new. */
const maximumMessages = 20

/** What became of the items of a request: spans or log records. */
export class ExportOutcome {
  #accepted = 0
  #rejected = 0
  readonly #messages: string[] = []
  #first: HeddleError | null = null

  /** Counts one item: rejected when `store` throws. */
  tryOne(store: () => void): void {
    try {
      store()
      this.#accepted++
    } catch (error) {
      this.#reject(error, 1)
    }
  }

  /** What all of `items` need; null: it is not there, and they are rejected. */
  async tryAll<T>(items: number, find: () => Promise<T>): Promise<T | null> {
    try {
      return await find()
    } catch (error) {
      this.#reject(error, items)
      return null
    }
  }

  /** @throws what is no fault of the client's. */
  #reject(error: unknown, items: number): void {
    if (!(error instanceof HeddleError) || error.status >= 500) throw error
    this.#rejected += items
    this.#first ??= error
    if (this.#messages.length < maximumMessages) this.#messages.push(error.message)
  }

  get rejected(): number {
    return this.#rejected
  }

  /** `""` when nothing was rejected. */
  get message(): string {
    const more = this.#rejected > this.#messages.length && this.#messages.length === maximumMessages ? "; …" : ""
    return this.#messages.join("; ") + more
  }

  /** @throws {HeddleError} when nothing of what was sent could be stored. */
  assertAnyAccepted(): void {
    if (this.#accepted > 0 || this.#first === null) return
    throw this.#rejected === 1 ? this.#first : new HeddleError(this.#first.code, this.message)
  }
}

/** `rejectedSpans` or `rejectedLogRecords`: in protobuf they have the same number. */
export async function sendOutcome(
  reply: FastifyReply,
  encoding: OtlpEncoding,
  outcome: ExportOutcome,
  rejectedName: "rejectedSpans" | "rejectedLogRecords",
): Promise<void> {
  const { rejected, message } = outcome
  if (encoding === "protobuf") {
    const partial = Buffer.concat([numberField(1, rejected), bytesField(2, message)])
    await reply.type(protobufType).send(rejected === 0 ? Buffer.alloc(0) : bytesField(1, partial))
  } else {
    // proto3's JSON tells integers of 64 bits as strings.
    const partialSuccess = { [rejectedName]: String(rejected), errorMessage: message }
    await reply.send(rejected === 0 ? {} : { partialSuccess })
  }
}
