/** Maps that keep what was used most recently: their last entries. */

/** Puts `value` last; of more than `most` entries the one that was not used for longest goes. */
export function keepRecent<V>(kept: Map<string, V>, key: string, value: V, most: number): void {
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > most && oldest !== undefined) kept.delete(oldest)
}
