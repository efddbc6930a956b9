import { useSyncExternalStore } from "react"

const second = 1000

/** The time in milliseconds since 1970, anew every so many seconds: for what is shown of how long something takes. */
export function useNow(everySeconds: number): number {
  const step = everySeconds * second
  const subscribe = (listener: () => void) => {
    const timer = setInterval(listener, step)
    return () => clearInterval(timer)
  }
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / step) * step)
}
