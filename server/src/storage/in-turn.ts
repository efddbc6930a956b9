/** Work of this server on one thing, one piece after the other: no other process writes to its data folder. */
import type { CatalogDatabase } from "./catalog/open-catalog.ts"

const turns = new WeakMap<CatalogDatabase, Map<string, Promise<unknown>>>()

/** Runs `work` once all work that was given before under `key` has ended, well or not. */
export async function inTurn<T>(database: CatalogDatabase, key: string, work: () => Promise<T>): Promise<T> {
  const ofStore = turns.get(database) ?? new Map<string, Promise<unknown>>()
  turns.set(database, ofStore)
  const mine = (ofStore.get(key) ?? Promise.resolve()).catch(() => undefined).then(work)
  ofStore.set(key, mine)
  try {
    return await mine
  } finally {
    if (ofStore.get(key) === mine) ofStore.delete(key)
  }
}
