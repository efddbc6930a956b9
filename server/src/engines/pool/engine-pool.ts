/**
 * Several engines as one. Each is attached to by itself; a call goes to one that can serve it (`placement.ts`), a job to the
 * one that has its snapshots (`job-homes.ts`). What one of them loses is not repeated here: the caller decides.
 */
import type { BaseRef } from "../../wire/engine/base.ts"
import type { EngineMethod } from "../../wire/engine/methods.ts"
import {
  type Engine,
  type EngineCall,
  EngineFailure,
  isEngineAway,
  type EngineMember,
  type EngineParams,
  type EngineState,
  type EngineStatus,
  type JobPlaces,
} from "../engine.ts"
import { conversationKey } from "./conversation-key.ts"
import { JobHomes } from "./job-homes.ts"
import { movingCall } from "./moving-call.ts"
import { placeChat } from "./placement.ts"
import { isOfBase, PoolMember } from "./pool-member.ts"

export interface EnginePoolOptions {
  engines: readonly { name: string; engine: Engine }[]
  /** How long an engine must be away before its jobs begin again on another. */
  failOverMs: number
}

/** What a call is placed by. */
interface Placed {
  base: BaseRef
  key: string
  /** Places of the batch that it takes. */
  choices: number
}

const noBase: BaseRef = { name: "", path: null }

export class EnginePool implements Engine {
  readonly #members: readonly PoolMember[]
  readonly #homes: JobHomes

  constructor({ engines, failOverMs }: EnginePoolOptions) {
    this.#members = engines.map(({ name, engine }) => new PoolMember(name, engine))
    this.#homes = new JobHomes(this.#members, failOverMs)
  }

  call<M extends EngineMethod>(method: M, params: EngineParams<M>, signal?: AbortSignal): EngineCall<M> {
    // What a type parameter stands for is not known to the compiler in a branch.
    if (method === "train") return this.#train(params as EngineParams<"train">, signal) as unknown as EngineCall<M>
    const placed = placedBy(method, params)
    const tried = new Set<PoolMember>()
    let refusal: EngineFailure | null = null
    return movingCall((failure) => {
      refusal = firstRefusal(refusal, failure)
      const member = this.#choose(placed, tried)
      if (member === null) throw this.#endOf(refusal, placed.base, tried)
      tried.add(member)
      return Promise.resolve(member.call(method, params, placed, signal))
    })
  }

  async ready(timeoutMs: number): Promise<void> {
    if (this.#members.some(({ isReady }) => isReady)) return
    await Promise.any(this.#members.map(({ engine }) => engine.ready(timeoutMs))).catch(() => {
      throw this.#unavailable()
    })
  }

  /** Of the engine that is best off. */
  status(): EngineStatus {
    const statuses = this.#members.map((member) => member.status())
    const order: EngineState[] = ["ready", "starting", "restarting", "unreachable", "closed"]
    const best = statuses.toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state))[0]
    if (best === undefined) throw new Error("a pool has an engine")
    return best.state === "ready" ? best : { ...best, reason: this.#reasons() }
  }

  members(): EngineMember[] {
    return this.#members.map(({ name, engine }) => ({ name, engine }))
  }

  jobPlaces(): JobPlaces {
    const taking = this.#members.filter(({ isTaking }) => isTaking).length
    // A job waits for an engine that starts. One that is there and refuses calls may be about to go.
    const starting = this.#members.some(({ isReady, engine }) => !isReady && engine.jobPlaces().engines > 0)
    return { engines: taking > 0 ? taking : Number(starting), waiting: this.#homes.waiting }
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map(({ engine }) => engine.close()))
  }

  #train(params: EngineParams<"train">, signal?: AbortSignal): EngineCall<"train"> {
    const tried = new Set<PoolMember>()
    let refusal: EngineFailure | null = null
    let isAtHome = false
    return movingCall(async (failure) => {
      // Its own engine may have by and by what it cannot get now.
      if (isAtHome && failure?.kind === "unavailable") throw failure
      refusal = firstRefusal(refusal, failure)
      const { member, isHome } = await this.#homes.place(params, tried, signal).catch((error: unknown) => {
        throw refusal !== null && isEngineAway(error) ? this.#endOfJob(refusal, params.base, tried) : error
      })
      isAtHome = isHome
      tried.add(member)
      const call = member.call("train", params, { base: params.base, choices: 0 }, signal)
      const leave = () => (member.jobs -= 1)
      call.result.then(leave, leave)
      return call
    })
  }

  #choose({ base, key, choices }: Placed, tried: ReadonlySet<PoolMember>): PoolMember | null {
    const ready = this.#members.filter((member) => member.isReady && !tried.has(member))
    const among = preferring(
      preferring(ready, (member) => member.isTaking),
      (member) => !member.lacks(base),
    )
    const loads = among.map((member) => member.load(base))
    return placeChat(loads, { base: base.name, key, choices: Math.max(1, choices) })?.member ?? null
  }

  /** What a call ends with that no other engine takes. */
  #endOf(refusal: EngineFailure | null, base: BaseRef, tried: ReadonlySet<PoolMember>): EngineFailure {
    if (refusal === null) return this.#unavailable()
    return isOfBase(refusal) ? this.#endOfJob(refusal, base, tried) : refusal
  }

  /** The first refusal, unless an engine is away that might take what the others refused. */
  #endOfJob(refusal: EngineFailure, base: BaseRef, tried: ReadonlySet<PoolMember>): EngineFailure {
    const away = this.#members.filter((member) => !member.isReady && !tried.has(member))
    if (away.length === 0) return refusal
    const names = away.map(({ name }) => name).join(", ")
    const message = `no engine that is attached takes the base model "${base.name}" (${refusal.message}); away: ${names}`
    return new EngineFailure("unavailable", message)
  }

  #unavailable(): EngineFailure {
    return new EngineFailure("unavailable", `the engine is not ready: ${this.#reasons()}`)
  }

  #reasons(): string {
    return this.#members
      .map((member) => [member.name, member.status()] as const)
      .filter(([, { state }]) => state !== "ready")
      .map(([name, { reason }]) => reason ?? `${name} is starting`)
      .join("; ")
  }
}

function placedBy(method: EngineMethod, params: unknown): Placed {
  const { base = noBase } = params as { base?: BaseRef }
  if (method !== "chat" && method !== "embed") return { base, key: base.name, choices: 0 }
  const sampled = params as EngineParams<"chat">
  return { base, key: conversationKey(sampled), choices: sampled.n ?? 1 }
}

/** @throws {EngineFailure} that is no engine's own, so that another would say the same. */
function firstRefusal(before: EngineFailure | null, failure: EngineFailure | null): EngineFailure | null {
  if (failure !== null && !isOfBase(failure) && failure.kind !== "out_of_memory") throw failure
  return before ?? failure
}

/** Those that are preferred, or all where none is. */
function preferring(members: PoolMember[], isPreferred: (member: PoolMember) => boolean): PoolMember[] {
  const preferred = members.filter(isPreferred)
  return preferred.length > 0 ? preferred : members
}
