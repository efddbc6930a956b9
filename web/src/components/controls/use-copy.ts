import { useEffect, useState } from "react"

/** How long it is said what became of it. */
const resultMs = 1400

/** Copies a text; what became of the last copying, for a moment. */
export function useCopy(): { state: "idle" | "copied" | "failed"; copy: (text: string) => void } {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle")
  // The clock: after a moment the button has its own words again.
  useEffect(() => {
    if (state === "idle") return
    const timer = setTimeout(() => setState("idle"), resultMs)
    return () => clearTimeout(timer)
  }, [state])
  const copy = (text: string) => {
    // Browsers allow copying only on https and on localhost.
    const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"))
    written.then(
      () => setState("copied"),
      () => setState("failed"),
    )
  }
  return { state, copy }
}
