/** What the answer to one GraphQL document comes to, counted while it is made: a field of a list is answered once an item. */
import { defaultFieldResolver, getNamedType, type GraphQLFieldResolver, isLeafType } from "graphql"
import { HeddleError } from "../../errors.ts"
import { sizeOf } from "../runs/run-reads.ts"

/** The client's longest pages, 1,000 versions or 5,000 files with what it asks of each, have a third. */
const mostFields = 250_000
const mostCharacters = 64 * 1024 ** 2

export class AnswerSize {
  #fields = 0
  #characters = 0

  /** @throws {HeddleError} `payload_too_large`. */
  check(): void {
    if (!this.#isFull()) return
    const most = `${mostFields.toLocaleString("en")} fields and ${mostCharacters / 1024 ** 2} Mi characters`
    throw new HeddleError(
      "payload_too_large",
      `the answer has more than ${most}; ask for fewer things or fields at a time`,
    )
  }

  /** Answers with null once the answer is too large, so that nothing more is read for it. */
  readonly resolve: GraphQLFieldResolver<unknown, unknown> = (source, given, context, info) => {
    this.#fields += 1
    if (this.#isFull()) return null
    const value: unknown = defaultFieldResolver(source, given, context, info)
    if (!isLeafType(getNamedType(info.returnType))) return value
    return value instanceof Promise ? value.then(this.#counted) : this.#counted(value)
  }

  readonly #counted = (value: unknown): unknown => {
    this.#characters += sizeOf(value)
    return this.#isFull() ? null : value
  }

  #isFull(): boolean {
    return this.#fields > mostFields || this.#characters > mostCharacters
  }
}
