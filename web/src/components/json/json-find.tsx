/** Finds a text in a JSON document, from match to match. */
import { ChevronDown, ChevronUp } from "lucide-react"
import { type KeyboardEvent, useState } from "react"
import { formatAtLeast, formatCount } from "../../format/numbers.ts"
import type { JsonMatches } from "../../json/json-document.ts"
import type { JsonSource } from "../../json/json-source.ts"
import { Button } from "../controls/button.tsx"
import styles from "./json-find.module.css"

interface JsonFindProps {
  source: JsonSource
  label: string
  /** A place in the text to be shown. */
  onReveal: (place: number) => void
}

const mostMatches = 10_000

interface Found extends JsonMatches {
  query: string
  /** The match that is shown. */
  at: number
}

export function JsonFind({ source, label, onReveal }: JsonFindProps) {
  const [query, setQuery] = useState("")
  const [found, setFound] = useState<Found | null>(null)

  const go = (next: Found, at: number) => {
    const index = next.places.length === 0 ? 0 : (at + next.places.length) % next.places.length
    setFound({ ...next, at: index })
    const place = next.places[index]
    if (place !== undefined) onReveal(place)
  }
  const search = async (step: 1 | -1) => {
    if (query === "") return setFound(null)
    if (found?.query === query) return go(found, found.at + step)
    go({ ...(await source.find(query, mostMatches)), query, at: 0 }, 0)
  }
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return
    event.preventDefault()
    void search(event.shiftKey ? -1 : 1)
  }
  const isCounted = found !== null && found.query === query
  const count = isCounted ? found.places.length : 0

  return (
    <div className={styles.find} role="search">
      <input
        className={styles.input}
        value={query}
        onChange={(event) => setQuery(event.target.value)}
        onKeyDown={press}
        placeholder="Find"
        aria-label={`Find in ${label}`}
      />
      <span className={styles.count} aria-live="polite">
        {isCounted &&
          (count === 0 ? "not found" : `${formatCount(found.at + 1)} of ${formatAtLeast(count, found.isAll)}`)}
      </span>
      <Button
        size="small"
        kind="quiet"
        icon={ChevronUp}
        aria-label="Previous match"
        onClick={() => void search(-1)}
        disabled={count < 2}
      />
      <Button
        size="small"
        kind="quiet"
        icon={ChevronDown}
        aria-label="Next match"
        onClick={() => void search(1)}
        disabled={query === ""}
      />
    </div>
  )
}
