/** How much may run at once (training-api 1.6, inference-api 11.4 rule 7). */
import { HeddleError } from "../errors.ts"

export interface AdmissionLimits {
  /** Prompts of one user, and of one project. */
  perUser: number
  perProject: number
  /** Choices of all callers of this server. */
  total: number
}

export const defaultAdmissionLimits: AdmissionLimits = {
  perUser: 2_000,
  perProject: 6_000,
  total: 20_000,
}

/** What one request has in progress at a time. */
export interface RequestSize {
  /** Each counts as what it is elsewhere: a request of its own. */
  prompts: number
  /** Over all of these prompts: as many sequences in the engine. */
  choices: number
}

const retryAfterMs = 1_000

export class Admission {
  readonly #limits: AdmissionLimits
  readonly #users = new Map<string, number>()
  readonly #projects = new Map<string, number>()
  #total = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /**
   * Call the returned function once, when the request is over. A request that is larger than a limit by itself enters
   * when it is the only one. @throws {HeddleError} 429 or 503.
   */
  enter(userId: string, projectId: string, size: RequestSize): () => void {
    const { perUser, perProject, total } = this.#limits
    if (isBeyond(this.#total, size.choices, total)) {
      const message = `this server already has ${this.#total} of ${total} choices in progress${asks(size.choices, "choices")}`
      throw new HeddleError("engine_overloaded", message, { retryAfterMs })
    }
    refuseAt(this.#users.get(userId), size, perUser, "user")
    refuseAt(this.#projects.get(projectId), size, perProject, "project")
    this.#count(userId, projectId, size, 1)
    let left = false
    return () => {
      if (left) return
      left = true
      this.#count(userId, projectId, size, -1)
    }
  }

  #count(userId: string, projectId: string, { prompts, choices }: RequestSize, by: 1 | -1): void {
    this.#total += by * choices
    add(this.#users, userId, by * prompts)
    add(this.#projects, projectId, by * prompts)
  }
}

function isBeyond(inProgress: number, more: number, limit: number): boolean {
  return inProgress > 0 && inProgress + more > limit
}

function refuseAt(inProgress: number | undefined, { prompts }: RequestSize, limit: number, whose: string): void {
  if (!isBeyond(inProgress ?? 0, prompts, limit)) return
  const message = `Concurrency limit reached for requests: ${limit} at a time per ${whose}${asks(prompts, "prompts")}`
  throw new HeddleError("rate_limit_exceeded", message, { retryAfterMs })
}

/** The way out of who asks for many at once. */
function asks(count: number, what: string): string {
  return count === 1 ? "" : `, and this one counts for its ${count} ${what}: try again later, or with fewer`
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
