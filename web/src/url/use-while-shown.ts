/** For what goes on after its window was closed or its page was left: whoever did that is not led away from where they went. */
import { useEffect, useRef } from "react"

/** Runs what it is given, which changes the address, unless the component that asked for it is gone. */
export function useWhileShown(): (go: () => void | Promise<void>) => Promise<void> {
  const isShown = useRef(false)
  // The component's life: it goes with its window or page.
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  return async (go) => {
    if (isShown.current) await go()
  }
}
