import { useMemo, useSyncExternalStore } from "react"

/** Whether a media query matches now. */
export function useMedia(query: string): boolean {
  // The browser takes longer to make one than to draw a small component, and each drawing asks.
  const media = useMemo(() => matchMedia(query), [query])
  const subscribe = (listener: () => void) => {
    media.addEventListener("change", listener)
    return () => media.removeEventListener("change", listener)
  }
  return useSyncExternalStore(subscribe, () => media.matches)
}
