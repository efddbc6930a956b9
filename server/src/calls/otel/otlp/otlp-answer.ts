/** Answers of OTLP export requests (OTLP 1.x, "Success", "Partial success", "Failures"). */
import type { FastifyReply } from "fastify"
import { HeddleError, isRefusal } from "../../../errors.ts"
import { protobufType } from "../../../http/answers/otlp-status.ts"
import { bytesField, numberField } from "../../../http/bodies/protobuf-message.ts"
import type { OtlpEncoding } from "./otlp-encoding.ts"
import type { Outcome } from "./otlp-input.ts"

/** Limit on the messages that an answer lists; more would say nothing new. */
const maximumMessages = 20

/** Outcome of a request's items: spans or log records. */
export class ExportOutcome {
  #accepted = 0
  #rejected = 0
  readonly #messages = new Set<string>()
  #first: HeddleError | null = null

  accept(items = 1): void {
    this.#accepted += items
  }

  /** @throws what is no fault of the client's. */
  reject(error: unknown, items = 1): void {
    if (!isRefusal(error)) throw error
    this.#first ??= error
    this.#count(items, error.message)
  }

  /** Not stored, and no fault either. */
  ignore(why: string): void {
    this.#count(1, why)
  }

  /** Finds something that all of `items` need. If it is missing (null), they are rejected. */
  needed<T>(items: number, find: () => T): T | null {
    try {
      return find()
    } catch (error) {
      this.reject(error, items)
      return null
    }
  }

  #count(items: number, message: string): void {
    this.#rejected += items
    if (this.#messages.size < maximumMessages) this.#messages.add(message)
  }

  toPlain(): Outcome {
    return { rejected: this.#rejected, message: this.#message }
  }

  get #message(): string {
    return [...this.#messages].join("; ") + (this.#messages.size === maximumMessages ? "; …" : "")
  }

  /** @throws {HeddleError} when nothing of what was sent could be stored. */
  assertAnyAccepted(): void {
    if (this.#accepted > 0 || this.#first === null) return
    throw new HeddleError(this.#first.code, this.#message)
  }
}

/** In protobuf they have the same number. */
export type RejectedName = "rejectedSpans" | "rejectedLogRecords"

export async function sendOutcome(
  reply: FastifyReply,
  encoding: OtlpEncoding,
  { rejected, message }: Outcome,
  rejectedName: RejectedName,
): Promise<void> {
  if (encoding === "protobuf") {
    const partial = Buffer.concat([numberField(1, rejected), bytesField(2, message)])
    await reply.type(protobufType).send(rejected === 0 ? Buffer.alloc(0) : bytesField(1, partial))
  } else {
    // proto3's JSON tells integers of 64 bits as strings.
    const partialSuccess = { [rejectedName]: String(rejected), errorMessage: message }
    await reply.send(rejected === 0 ? {} : { partialSuccess })
  }
}
