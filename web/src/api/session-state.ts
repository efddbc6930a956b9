/** Whether the session that this page was opened with has ended: then the page asks to sign in again, in place. */

let hasEnded = false
const listeners = new Set<() => void>()

export function sessionEnded(): void {
  setEnded(true)
}

export function sessionResumed(): void {
  setEnded(false)
}

/** For `useSyncExternalStore`. */
export const sessionEnd = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  hasEnded: (): boolean => hasEnded,
}

function setEnded(value: boolean): void {
  hasEnded = value
  for (const listener of listeners) listener()
}
