/** Keeps a text in this browser. Whether it does: one that has no room keeps what was there, and its page goes on without. */
export function putText(store: Pick<Storage, "setItem">, key: string, text: string): boolean {
  try {
    store.setItem(key, text)
    return true
  } catch {
    return false
  }
}
