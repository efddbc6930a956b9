/** For what goes on after its window was closed or its page was left: whoever did that is not led away from where they went. */
import { useEffect, useRef } from "react"
import { useIsLeaving } from "./use-is-leaving.ts"

/** Runs what it is given, which changes the address, unless the component that asked for it is gone, or its page is being left. */
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
