/** Whether a page has everything it asked for when it was opened, so that it can be laid out once. */
import { useIsFetching } from "@tanstack/react-query"
import { useEffect, useState } from "react"

/** A reading that begins when another one has ended is waited for as well. */
const restMs = 30

/**
 * False until every first reading of the page was answered or has failed, or `mostMs` milliseconds have passed; from then on
 * true, whatever is read again.
 */
export function useFirstReading(mostMs: number): boolean {
  const reading = useIsFetching({ predicate: ({ state }) => state.status === "pending" })
  const [isOver, setOver] = useState(false)
  const isAtRest = reading === 0
  // The clock.
  useEffect(() => {
    if (!isAtRest) return
    const timer = setTimeout(() => setOver(true), restMs)
    return () => clearTimeout(timer)
  }, [isAtRest])
  // The clock.
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), mostMs)
    return () => clearTimeout(timer)
  }, [mostMs])
  return isOver
}
