/** Copies a text, and says so on the button itself. */
import { Check, Copy } from "lucide-react"
import { useEffect, useState } from "react"
import { Button } from "./button.tsx"

interface CopyButtonProps {
  text: string
  /** For readers, where the button has no words. */
  label?: string
  /** With words on it. */
  isWordy?: boolean
  /** Label of the button: "Copy name". */
  words?: string
}

const shownMs = 1400

export function CopyButton({ text, label = "Copy", isWordy = false, words = "Copy" }: CopyButtonProps) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle")
  // The clock: what was done is said for a moment.
  useEffect(() => {
    if (state === "idle") return
    const timer = setTimeout(() => setState("idle"), shownMs)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () => {
    // Browsers allow it on https and on this machine only.
    const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"))
    written.then(
      () => setState("copied"),
      () => setState("failed"),
    )
  }
  const shown = { idle: words, copied: "Copied", failed: "Not allowed here" }[state]
  return (
    <Button
      size="small"
      kind={isWordy ? "default" : "quiet"}
      icon={state === "copied" ? Check : Copy}
      aria-label={state === "idle" ? label : shown}
      onClick={copy}
    >
      {isWordy || state === "failed" ? shown : undefined}
    </Button>
  )
}
