/** Copies a text, and says so on the button itself. */
import { Check, Copy } from "lucide-react"
import { Button } from "./button.tsx"
import { useCopy } from "./use-copy.ts"

interface CopyButtonProps {
  text: string
  /** For screen readers, where the button shows only its icon. */
  label?: string
  /** Shows words beside the icon. */
  isWordy?: boolean
  /** The words, such as "Copy name". */
  words?: string
}

export function CopyButton({ text, label = "Copy", isWordy = false, words = "Copy" }: CopyButtonProps) {
  const { state, copy } = useCopy()
  const wording = { idle: words, copied: "Copied", failed: "Not allowed here" }[state]
  return (
    <Button
      size="small"
      kind={isWordy ? "default" : "quiet"}
      icon={state === "copied" ? Check : Copy}
      aria-label={state === "idle" ? label : wording}
      onClick={() => copy(text)}
    >
      {isWordy || state === "failed" ? wording : undefined}
    </Button>
  )
}
