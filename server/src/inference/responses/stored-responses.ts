/** Answers that requests may go on from (`previous_response_id`): kept per project, as many and as long as the limits say. */
import { requireRightIn, teamIds } from "../../access/can.ts"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { parseExact } from "../../json/exact-json.ts"
import type { Limits } from "../../limits.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import {
  deleteStoredResponse,
  findStoredAnswers,
  findStoredResponse,
  insertStoredResponse,
  removeOldestResponses,
  type StoredResponse,
} from "../../storage/catalog/inference/stored-responses.ts"
import { MAX_CALL_BYTES } from "../../wire/engine/frames.ts"
import type { ResponseAnswer, ResponseInputItem, ResponsesRequest } from "../../wire/inference/responses.ts"
import { isReference, responseOfItem } from "./item-ids.ts"

type ResponseLimits = Pick<Limits, "stored_responses_per_project" | "stored_response_days">

/** Removing the oldest takes longer than storing one, so it is done once per this many. */
const storedPerRemoval = 100

/** A call to the engine may be no longer, and few bytes can name many. */
const mostNamedCharacters = MAX_CALL_BYTES

/**
 * How many answers are in memory at once while items are looked for: one has its tokens beside its text. Of the answers
 * before them only the named items are.
 */
const answersAtOnce = 10

export class StoredResponses {
  readonly #database: CatalogDatabase
  readonly #limits: ResponseLimits
  /** By project, how many were stored since the oldest were removed. */
  readonly #stored = new Map<string, number>()

  constructor(database: CatalogDatabase, limits: ResponseLimits) {
    this.#database = database
    this.#limits = limits
  }

  /** Resolves when it is stored. @param items all that was before the answer. */
  async store(projectId: string, items: readonly ResponseInputItem[], answer: ResponseAnswer): Promise<void> {
    await insertStoredResponse(this.#database, {
      id: answer.id,
      projectId,
      input: JSON.stringify(items),
      answer: JSON.stringify(answer),
      days: this.#limits.stored_response_days,
    })
    const most = this.#limits.stored_responses_per_project
    const stored = (this.#stored.get(projectId) ?? 0) + 1
    const isDue = stored >= Math.min(storedPerRemoval, most)
    this.#stored.set(projectId, isDue ? 0 : stored)
    if (isDue) await removeOldestResponses(this.#database, projectId, most)
  }

  /** @throws {HeddleError} `not_found`; `forbidden` without the right that the caller's route names. */
  async read(principal: Principal, id: string): Promise<StoredResponse> {
    const found = await findStoredResponse(this.#database, teamIds(principal), id)
    if (found === null) throw this.noSuch(id)
    requireRightIn(principal, found.project_id, found)
    return found
  }

  /** All items of the dialogue until the end of this answer; none without an answer. @throws {HeddleError} `not_found`. */
  async dialogue(principal: Principal, id: string | null | undefined): Promise<ResponseInputItem[]> {
    if (id == null) return []
    const found = await findStoredResponse(this.#database, teamIds(principal), id)
    if (found === null) throw this.noSuch(id, "previous_response_id")
    return [...(parseExact(found.input) as ResponseInputItem[]), ...outputOf(found.answer)]
  }

  /**
   * The input with the items themselves where it names those of stored answers. @throws {HeddleError} `not_found`;
   * `payload_too_large` where they are longer together than a request can be.
   */
  async withNamedItems(principal: Principal, input: ResponsesRequest["input"]): Promise<ResponsesRequest["input"]> {
    if (typeof input === "string") return input
    const references = input.flatMap((item, index) => (isReference(item) ? [{ id: item.id ?? "", index }] : []))
    const byAnswer = [...Map.groupBy(references, ({ id }) => responseOfItem(id) ?? "")]
    const whole = [...input]
    let size = 0
    for (let at = 0; at < byAnswer.length; at += answersAtOnce) {
      const slice = byAnswer.slice(at, at + answersAtOnce)
      const ids = slice.map(([responseId]) => responseId)
      const answers = await findStoredAnswers(this.#database, teamIds(principal), ids)
      const items = new Map(answers.flatMap(outputOf).map((item) => [item.id, { item, length: lengthOf(item) }]))
      for (const { id, index } of slice.flatMap(([, named]) => named)) {
        const found = items.get(id)
        if (found === undefined) throw this.noSuchItem(id, `input[${index}]`)
        size += found.length
        if (size > mostNamedCharacters) throw tooLong(index)
        whole[index] = found.item
      }
    }
    return whole
  }

  /** @throws {HeddleError} `not_found`, `forbidden`. */
  async delete(principal: Principal, id: string): Promise<void> {
    await this.read(principal, id)
    if (!(await deleteStoredResponse(this.#database, teamIds(principal), id))) throw this.noSuch(id)
  }

  noSuch(id: string, param = "response_id"): HeddleError {
    const message = `${param}: no response "${id}" is stored. ${this.#kept()}; send its items as input instead`
    return new HeddleError("not_found", message, { param })
  }

  noSuchItem(id: string, param: string): HeddleError {
    const message = `${param}: no answer with an item "${id}" is stored. ${this.#kept()}; send the item itself instead`
    return new HeddleError("not_found", message, { param })
  }

  #kept(): string {
    const { stored_response_days: days, stored_responses_per_project: most } = this.#limits
    return (
      `They are kept for ${days} days, the newest ${most} of a project, ` +
      "unless they were made with store: false or deleted"
    )
  }
}

function tooLong(index: number): HeddleError {
  const message =
    `input[${index}]: the items that input names have more than ${mostNamedCharacters} characters together. ` +
    "Name fewer of them"
  return new HeddleError("payload_too_large", message, { param: `input[${index}]` })
}

function lengthOf(item: ResponseInputItem): number {
  return JSON.stringify(item).length
}

function outputOf(answer: string): ResponseInputItem[] {
  return (parseExact(answer) as { output: ResponseInputItem[] }).output
}
