/** How much may run at once (training-api 1.6, inference-api 11.4 rule 7). */
import { HeddleError } from "../errors.ts"
import type { Limits } from "../limits.ts"

export type AdmissionLimits = Pick<
  Limits,
  | "chat_prompts_per_user"
  | "chat_prompts_per_project"
  | "chat_choices_per_user"
  | "chat_tokens_per_user"
  | "chat_choices_total"
>

/** The concurrent work of one request. */
export interface RequestSize {
  /** Each counts as a request of its own, as it would be if it were sent alone. */
  prompts: number
  /** Of all prompts together: each is a sequence in the engine. */
  choices: number
  /** The most that one choice may have; null: as many as fit. */
  maxTokens: number | null
}

type Counted = "prompts" | "choices" | "tokens"
type Counts = Record<Counted, number>

/** Whose work it is. */
export interface RequestOwner {
  userId: string
  teamId: string
  projectId: string
}

/** Tokens assumed for a choice whose request sets no limit. */
const assumedTokens = 4_096
/** Beyond what any model has room for; a request may ask for so many that sums of them would not be exact. */
const mostTokens = 2 ** 32

const retryAfterMs = 1_000

export class Admission {
  readonly #limits: AdmissionLimits
  readonly #teams = new Map<string, Counts>()
  /** Of a user in one team. */
  readonly #members = new Map<string, Counts>()
  readonly #users = new Map<string, Counts>()
  readonly #projects = new Map<string, Counts>()
  readonly #total: Counts = { prompts: 0, choices: 0, tokens: 0 }

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /** Work in progress, summed over all users. */
  snapshot(): Readonly<Counts> {
    return { ...this.#total }
  }

  /**
   * Call the returned function once, when the request is over. A request that is larger than a limit by itself enters
   * when it is the only one. @throws {HeddleError} 429 or 503.
   */
  enter(owner: RequestOwner, { prompts, choices, maxTokens }: RequestSize): () => void {
    const tokens = choices * Math.min(maxTokens ?? assumedTokens, mostTokens)
    const size: Counts = { prompts, choices, tokens }
    this.#refuseBeyondShare(owner, choices)
    const { userId, projectId } = owner
    const user = this.#users.get(userId)
    refuseAt(user, size, "prompts", this.#limits.chat_prompts_per_user, "user")
    refuseAt(user, size, "choices", this.#limits.chat_choices_per_user, "user")
    refuseAt(user, size, "tokens", this.#limits.chat_tokens_per_user, "user")
    refuseAt(this.#projects.get(projectId), size, "prompts", this.#limits.chat_prompts_per_project, "project")
    this.#count(owner, size, 1)
    let left = false
    return () => {
      if (left) return
      left = true
      this.#count(owner, size, -1)
    }
  }

  /**
   * Nobody takes all that is free: a team leaves a fifth of it to other teams, and a user a fifth of the team's part to its
   * other members, so that whoever has nothing in progress finds room. Where the team has used up its part, a user with
   * nothing in progress shares in what is free on the whole server.
   */
  #refuseBeyondShare(owner: RequestOwner, choices: number): void {
    const total = this.#limits.chat_choices_total
    const all = this.#total.choices
    const team = this.#teams.get(owner.teamId)?.choices ?? 0
    const member = this.#members.get(memberKey(owner))?.choices ?? 0
    const ofTeam = shareOf(total - (all - team))
    const ofTeamsUser = shareOf(ofTeam - (team - member))
    const ofMember = member === 0 && ofTeamsUser <= 0 ? shareOf(total - all) : ofTeamsUser
    if (all === 0 || member + choices <= ofMember) return
    const left = Math.max(0, ofMember - member)
    const message =
      `this server has ${all} of ${total} choices in progress, and leaves ${left} more to you` +
      requestedNote(choices, "choices")
    throw new HeddleError("engine_overloaded", message, { retryAfterMs })
  }

  #count(owner: RequestOwner, size: Counts, by: 1 | -1): void {
    add(this.#total, size, by)
    addTo(this.#teams, owner.teamId, size, by)
    addTo(this.#members, memberKey(owner), size, by)
    addTo(this.#users, owner.userId, size, by)
    addTo(this.#projects, owner.projectId, size, by)
  }
}

/** Of what the others leave free, one may take four fifths. */
function shareOf(count: number): number {
  return Math.ceil((count * 4) / 5)
}

function memberKey({ teamId, userId }: RequestOwner): string {
  return `${teamId} ${userId}`
}

function isBeyond(inProgress: number, more: number, limit: number): boolean {
  return inProgress > 0 && inProgress + more > limit
}

/** As clients know them: a prompt is a request to them. */
const names: Record<Counted, string> = { prompts: "requests", choices: "choices", tokens: "tokens" }

function refuseAt(inProgress: Counts | undefined, size: Counts, counted: Counted, limit: number, whose: string): void {
  if (!isBeyond(inProgress?.[counted] ?? 0, size[counted], limit)) return
  const message = `Concurrency limit reached for ${names[counted]}: ${limit} at a time per ${whose}${requestedNote(size[counted], counted)}`
  throw new HeddleError("rate_limit_exceeded", message, { retryAfterMs })
}

/** The advice for a request that asks for many at once. */
function requestedNote(count: number, what: Counted): string {
  return count === 1 ? "" : `, and this one counts for its ${count} ${what}: try again later, or with fewer`
}

function add(counts: Counts, size: Counts, by: 1 | -1): void {
  for (const counted of ["prompts", "choices", "tokens"] as const) counts[counted] += by * size[counted]
}

function addTo(all: Map<string, Counts>, key: string, size: Counts, by: 1 | -1): void {
  const counts = all.getOrInsertComputed(key, () => ({ prompts: 0, choices: 0, tokens: 0 }))
  add(counts, size, by)
  if (counts.prompts === 0) all.delete(key)
}
