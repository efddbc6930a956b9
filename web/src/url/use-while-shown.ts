/** For work that may end after its window was closed or its page was left: it takes nobody away from where they are by then. */
import { useEffect, useRef } from "react"
import { useIsLeaving } from "./use-is-leaving.ts"

/** Runs `go`, which changes the address, unless the component is gone or another page is on its way. */
export function useWhileShown(): (go: () => void | Promise<void>) => Promise<void> {
  const isLeaving = useIsLeaving()
  const isShown = useRef(false)
  // The component's life: it goes with its window or page.
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  return async (go) => {
    if (isShown.current && !isLeaving()) await go()
  }
}
