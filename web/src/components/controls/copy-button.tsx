/** Copies a text, and says so on the button itself. */
import { Check, Copy } from "lucide-react"
import { useEffect, useState } from "react"
import { Button } from "./button.tsx"

interface CopyButtonProps {
  text: string
  /** For screen readers, where the button shows only its icon. */
  label?: string
  /** Shows words beside the icon. */
  isWordy?: boolean
  /** The words, such as "Copy name". */
  words?: string
}

/** How long the button says what became of it. */
const resultMs = 1400

export function CopyButton({ text, label = "Copy", isWordy = false, words = "Copy" }: CopyButtonProps) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle")
  // The clock: after a moment the button has its own words again.
  useEffect(() => {
    if (state === "idle") return
    const timer = setTimeout(() => setState("idle"), resultMs)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () => {
    // Browsers allow copying only on https and on localhost.
    const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"))
    written.then(
      () => setState("copied"),
      () => setState("failed"),
    )
  }
  const wording = { idle: words, copied: "Copied", failed: "Not allowed here" }[state]
  return (
    <Button
      size="small"
      kind={isWordy ? "default" : "quiet"}
      icon={state === "copied" ? Check : Copy}
      aria-label={state === "idle" ? label : wording}
      onClick={copy}
    >
      {isWordy || state === "failed" ? wording : undefined}
    </Button>
  )
}
