/** How much may run at once (training-api 1.6, inference-api 11.4 rule 7). */
import { HeddleError } from "../errors.ts"

export interface AdmissionLimits {
  perUser: number
  perProject: number
  /** Over all callers of this server. */
  total: number
}

export const defaultAdmissionLimits: AdmissionLimits = {
  perUser: 2_000,
  perProject: 6_000,
  total: 20_000,
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

  /** Call the returned function once, when the request is over. @throws {HeddleError} 429 or 503. */
  enter(userId: string, projectId: string): () => void {
    const { perUser, perProject, total } = this.#limits
    if (this.#total >= total) {
      throw new HeddleError("engine_overloaded", `this server already has ${total} requests in progress`, {
        retryAfterMs,
      })
    }
    refuseAt(this.#users.get(userId), perUser, "user")
    refuseAt(this.#projects.get(projectId), perProject, "project")
    this.#count(userId, projectId, 1)
    let left = false
    return () => {
      if (left) return
      left = true
      this.#count(userId, projectId, -1)
    }
  }

  #count(userId: string, projectId: string, by: 1 | -1): void {
    this.#total += by
    add(this.#users, userId, by)
    add(this.#projects, projectId, by)
  }
}

function refuseAt(inProgress: number | undefined, limit: number, whose: string): void {
  if (inProgress === undefined || inProgress < limit) return
  const message = `Concurrency limit reached for requests: ${limit} at a time per ${whose}`
  throw new HeddleError("rate_limit_exceeded", message, { retryAfterMs })
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
