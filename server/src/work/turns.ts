/**
 * Work that waits, in the order in which it is served: teams take turns, the users of a team take turns, and the work of
 * one user goes by age. So a tenant waits for as many others as there are, not for all that one of them has sent.
 */

/** `lookup`: by primary key, a few milliseconds. `heavy`: anything else. */
export type WorkKind = "lookup" | "heavy"

export interface WaitingWork {
  readonly teamId: string
  readonly userId: string
  readonly kind: WorkKind
}

interface Aged<W> {
  work: W
  age: number
}

/** Waiting work of one user in one team, each kind by age: what may start depends on the kind only. */
type UsersWork<W> = Record<WorkKind, Aged<W>[]>

export class Turns<W extends WaitingWork> {
  /** The next in turn comes first, in both maps. A team without waiting users, and a user without work, is not there. */
  readonly #teams = new Map<string, Map<string, UsersWork<W>>>()
  readonly #counts: Record<WorkKind, number> = { lookup: 0, heavy: 0 }
  #added = 0

  get counts(): Readonly<Record<WorkKind, number>> {
    return this.#counts
  }

  add(work: W): void {
    const users = this.#teams.getOrInsertComputed(work.teamId, () => new Map<string, UsersWork<W>>())
    const waiting = users.getOrInsertComputed(work.userId, () => ({ lookup: [], heavy: [] }))
    waiting[work.kind].push({ work, age: this.#added++ })
    this.#counts[work.kind] += 1
  }

  /** Does nothing when it does not wait. */
  remove(work: W): void {
    const waiting = this.#teams.get(work.teamId)?.get(work.userId)
    const place = waiting?.[work.kind].findIndex((one) => one.work === work) ?? -1
    if (waiting === undefined || place === -1) return
    waiting[work.kind].splice(place, 1)
    this.#counts[work.kind] -= 1
    this.#forgetIdle(work, waiting)
  }

  /** Takes the first in turn of which `mayStart` says yes; null: none may. It must depend on user and kind only. */
  take(mayStart: (userId: string, kind: WorkKind) => boolean): W | null {
    for (const users of this.#teams.values()) {
      for (const [userId, waiting] of users) {
        const kind = oldest(waiting, (one) => mayStart(userId, one))
        const first = kind === null ? undefined : waiting[kind].shift()
        if (first === undefined) continue
        this.#counts[first.work.kind] -= 1
        this.#turn(first.work, waiting)
        return first.work
      }
    }
    return null
  }

  /** Moves the user to the end of its team's turns, and the team to the end of all. */
  #turn(work: W, waiting: UsersWork<W>): void {
    const users = this.#teams.get(work.teamId)
    if (users === undefined) return
    users.delete(work.userId)
    users.set(work.userId, waiting)
    this.#teams.delete(work.teamId)
    this.#teams.set(work.teamId, users)
    this.#forgetIdle(work, waiting)
  }

  #forgetIdle({ teamId, userId }: W, waiting: UsersWork<W>): void {
    if (waiting.lookup.length + waiting.heavy.length > 0) return
    const users = this.#teams.get(teamId)
    users?.delete(userId)
    if (users?.size === 0) this.#teams.delete(teamId)
  }
}

function oldest<W>(waiting: UsersWork<W>, isAllowed: (kind: WorkKind) => boolean): WorkKind | null {
  const [lookup, heavy] = [waiting.lookup[0], waiting.heavy[0]]
  const isLookup = lookup !== undefined && isAllowed("lookup")
  const isHeavy = heavy !== undefined && isAllowed("heavy")
  if (isLookup && isHeavy) return lookup.age < heavy.age ? "lookup" : "heavy"
  if (isLookup) return "lookup"
  return isHeavy ? "heavy" : null
}
