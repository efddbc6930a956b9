/** Answers that requests may go on from (`previous_response_id`): kept per project, as many and as long as the limits say. */
import { requireRightIn, teamIds } from "../../access/can.ts"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { parseExact } from "../../json/exact-json.ts"
import type { Limits } from "../../limits.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import {
  deleteStoredResponse,
  findStoredResponse,
  insertStoredResponse,
  removeOldestResponses,
  type StoredResponse,
} from "../../storage/catalog/inference/stored-responses.ts"
import type { ResponseAnswer, ResponseInputItem } from "../../wire/inference/responses.ts"

type ResponseLimits = Pick<Limits, "stored_responses_per_project" | "stored_response_days">

/** Removing the oldest takes longer than storing one, so it is done once per this many. */
const storedPerRemoval = 100

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
    const { output } = parseExact(found.answer) as { output: ResponseInputItem[] }
    return [...(parseExact(found.input) as ResponseInputItem[]), ...output]
  }

  /** @throws {HeddleError} `not_found`, `forbidden`. */
  async delete(principal: Principal, id: string): Promise<void> {
    await this.read(principal, id)
    if (!(await deleteStoredResponse(this.#database, teamIds(principal), id))) throw this.noSuch(id)
  }

  noSuch(id: string, param = "response_id"): HeddleError {
    const { stored_response_days: days, stored_responses_per_project: most } = this.#limits
    const message =
      `${param}: no response "${id}" is stored. They are kept for ${days} days, the newest ${most} of a project, ` +
      "unless they were made with store: false or deleted; send its items as input instead"
    return new HeddleError("not_found", message, { param })
  }
}
