import { useEffect, useState } from "react"

/** Shorter waits show nothing of their own. */
const delayMs = 150

/** false at first, true after a moment. */
export function useDelayed(milliseconds = delayMs): boolean {
  const [isOver, setOver] = useState(false)
  // The clock.
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), milliseconds)
    return () => clearTimeout(timer)
  }, [milliseconds])
  return isOver
}
