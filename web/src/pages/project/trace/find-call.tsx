/** Finds calls by their name, from one to the next. */
import { useMemo, useState } from "react"
import type { TraceTree } from "../../../calls/trace-tree.ts"
import { formatExact } from "../../../format/numbers.ts"
import styles from "./find-call.module.css"

export function FindCall({ tree, onFound }: { tree: TraceTree; onFound: (index: number) => void }) {
  const [text, setText] = useState("")
  const [at, setAt] = useState(0)
  const found = useMemo(() => {
    const wanted = text.trim().toLowerCase()
    return wanted === "" ? [] : tree.order.filter((index) => tree.spans[index]?.name.toLowerCase().includes(wanted))
  }, [tree, text])
  const show = (place: number) => {
    const next = found[(place + found.length) % found.length]
    if (next === undefined) return
    setAt((place + found.length) % found.length)
    onFound(next)
  }
  return (
    <span className={styles.find} role="search">
      <input
        className={styles.input}
        value={text}
        placeholder={tree.spans.length === 1 ? "Find a call" : `Find in ${formatExact(tree.spans.length)} calls`}
        aria-label="Find a call by its name"
        onChange={(event) => {
          setText(event.target.value)
          setAt(-1)
        }}
        onKeyDown={(event) => event.key === "Enter" && show(at + (event.shiftKey ? -1 : 1))}
      />
      <span className={styles.count} aria-live="polite">
        {text.trim() !== "" && (found.length === 0 ? "none" : `${Math.max(at, 0) + 1} of ${formatExact(found.length)}`)}
      </span>
    </span>
  )
}
