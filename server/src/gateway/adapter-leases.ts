/** Which checkpoints answer requests right now, so that a deleted one's files stay until they are done (training-api 4.3). */
import { outsideOfRequests } from "../work/work-scope.ts"

interface Deferred {
  modelId: string
  /** null: every step. */
  step: number | null
  action: () => Promise<void>
}

interface Lease {
  modelId: string
  step: number
}

export class AdapterLeases {
  readonly #held = new Set<Lease>()
  readonly #failed: (error: unknown) => void
  #deferred: Deferred[] = []

  /** `failed` is told when an action fails: what was to be removed is gone for every request all the same. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  /** Call the returned function once, when the request is over. */
  take(modelId: string, step: number): () => void {
    const lease = { modelId, step }
    this.#held.add(lease)
    return () => {
      this.#held.delete(lease)
      this.#runDeferred()
    }
  }

  /**
   * Runs `action` when no request uses the step, or any step: now, and then it is waited for, or
   * after the last such request, in the background.
   */
  async afterUse(modelId: string, step: number | null, action: () => Promise<void>): Promise<void> {
    const deferred = { modelId, step, action }
    if (this.#inUse(deferred)) this.#deferred.push(deferred)
    else await this.#run(deferred)
  }

  /** The request that happens to be the last has nothing to do with it. */
  #run({ action }: Deferred): Promise<void> {
    return outsideOfRequests(action).catch(this.#failed)
  }

  #runDeferred(): void {
    if (this.#deferred.length === 0) return
    const ready = this.#deferred.filter((deferred) => !this.#inUse(deferred))
    this.#deferred = this.#deferred.filter((deferred) => !ready.includes(deferred))
    for (const deferred of ready) void this.#run(deferred)
  }

  #inUse({ modelId, step }: Deferred): boolean {
    for (const lease of this.#held) {
      if (lease.modelId === modelId && (step === null || lease.step === step)) return true
    }
    return false
  }
}
