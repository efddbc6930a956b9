/** Which reading of a list a page shows: who goes back to it finds the rows that they left, at the place where they were. */
import { useLocation } from "@tanstack/react-router"
import { useEffect, useState } from "react"

/** By entries of the browser's history, the one that was seen last at the end. */
const readings = new Map<string, number>()
const mostKept = 50

/** The number of a reading, and what begins another one. A page that is opened anew begins one as well. */
export function useListVersion(): [version: number, readAgain: () => void] {
  const entry = useLocation({ select: ({ state }) => state.__TSR_key ?? "" })
  const [version, setVersion] = useState(() => readings.get(entry) ?? Date.now())
  // What is kept while this page is not there.
  useEffect(() => {
    readings.delete(entry)
    readings.set(entry, version)
    const [oldest] = readings.keys()
    if (readings.size > mostKept && oldest !== undefined) readings.delete(oldest)
  }, [entry, version])
  return [version, () => setVersion(Date.now())]
}
