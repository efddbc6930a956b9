/** What was read of a catalog, for the few seconds in which a change at another server may go unnoticed here. */
import type { CatalogDatabase } from "./open-catalog.ts"

const mostRemembered = 10_000
/** No longer than a revoked key may go on working at another server. */
const rememberedMs = 5_000

interface Remembered<Value> {
  values: Map<string, { value: Value; until: number }>
  /** Counts the changes that were made through this server. */
  generation: number
}

export class RememberedReads<Value> {
  readonly #ofCatalog = new WeakMap<CatalogDatabase, Remembered<Value>>()

  /** undefined: it is not remembered. */
  get(database: CatalogDatabase, key: string): Value | undefined {
    const found = this.#of(database).values.get(key)
    return found === undefined || found.until < performance.now() ? undefined : found.value
  }

  /** Call it before a read. What it returns remembers what was read, unless there was a change since. */
  reading(database: CatalogDatabase): (key: string, value: Value) => void {
    const remembered = this.#of(database)
    const { generation } = remembered
    const until = performance.now() + rememberedMs
    return (key, value) => {
      if (generation !== remembered.generation) return
      if (remembered.values.size >= mostRemembered) remembered.values.clear()
      remembered.values.set(key, { value, until })
    }
  }

  /** Call it once a change is committed: no later request of this server finds what was before. */
  forget(database: CatalogDatabase): void {
    const remembered = this.#of(database)
    remembered.values.clear()
    remembered.generation += 1
  }

  #of(database: CatalogDatabase): Remembered<Value> {
    return this.#ofCatalog.getOrInsertComputed(database, () => ({ values: new Map(), generation: 0 }))
  }
}
