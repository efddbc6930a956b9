/**
 * Whose work the running code does, and until when somebody waits for it. A request's scope goes with everything that
 * is awaited on its behalf, so a queue far below knows whose turn it is without a parameter on every function between.
 */
import { AsyncLocalStorage } from "node:async_hooks"

export interface WorkScope {
  readonly userId: string
  /** The user's own entity, until the request names a project: then the team that owns it. */
  teamId: string
  /** Aborts when nobody waits for the result any more; null: the work must be done to its end, however long it waits. */
  readonly signal: AbortSignal | null
}

type Tenant = Readonly<Pick<WorkScope, "userId" | "teamId">>

const scopes = new AsyncLocalStorage<WorkScope | undefined>()

/** Owner of work that serves everybody. Ids of users are UUIDs or addresses. */
export const background: Tenant = { userId: "background", teamId: "background" }

/** undefined: background work, which serves everybody. */
export function currentScope(): WorkScope | undefined {
  return scopes.getStore()
}

/** Whose turn the running work takes. */
export function currentTenant(): Tenant {
  return scopes.getStore() ?? background
}

export function inScope<T>(scope: WorkScope, work: () => T): T {
  return scopes.run(scope, work)
}

/**
 * Runs work that serves many requests, such as an insert that they share. It must not stop with the request that
 * happened to start it, nor be counted as that user's.
 */
export function outsideOfRequests<T>(work: () => T): T {
  return scopes.run(undefined, work)
}

/** Runs work that must be done although the client has left, such as to clean up. It is still its user's. */
export function toTheEnd<T>(work: () => T): T {
  const scope = scopes.getStore()
  return scope === undefined ? work() : scopes.run({ ...scope, signal: null }, work)
}

/** From here on, the work of this request is the team's that owns the project it is about. */
export function workForTeam(teamId: string): void {
  const scope = scopes.getStore()
  if (scope !== undefined) scope.teamId = teamId
}

/**
 * The same generator, which always runs in the scope of now. A stream asks for its next piece when its socket has room,
 * and that event need not come from the request.
 */
export function keepScope<T>(generator: AsyncGenerator<T>): AsyncGenerator<T> {
  const run = AsyncLocalStorage.snapshot()
  const kept: AsyncGenerator<T> = {
    next: (...values) => run(() => generator.next(...values)),
    return: (value) => run(() => generator.return(value)),
    throw: (error) => run(() => generator.throw(error)),
    [Symbol.asyncIterator]: () => kept,
    [Symbol.asyncDispose]: async () => void (await kept.return(undefined)),
  }
  return kept
}
