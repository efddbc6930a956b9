/** The line to type the next message into, which goes on from each answer that there is; or the first one. */
import { Send } from "lucide-react"
import type { ReactNode, Ref } from "react"
import { Button } from "../../../components/controls/button.tsx"
import styles from "./composer.module.css"

interface ComposerProps {
  box: Ref<HTMLTextAreaElement>
  text: string
  /** How many models there are, and how many of them have an answer to go on from. */
  columns: number
  goingOn: number
  /** Nothing was asked yet: what is typed is the first message. */
  canBegin: boolean
  /** Buttons before the one that sends. */
  tools: ReactNode
  onChange: (text: string) => void
  onSend: () => void
}

export function Composer({ box, text, columns, goingOn, canBegin, tools, onChange, onSend }: ComposerProps) {
  return (
    <form
      className={styles.composer}
      onSubmit={(event) => {
        event.preventDefault()
        onSend()
      }}
    >
      <textarea
        ref={box}
        className={styles.next}
        rows={2}
        aria-label="Next message"
        placeholder={
          canBegin ? `What is asked${columns > 1 ? ", of all of them" : ""}` : placeholderFor(columns, goingOn)
        }
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
      <span className={styles.tools}>
        {tools}
        <Button type="submit" kind="default" icon={Send} disabled={text.trim() === "" || (goingOn === 0 && !canBegin)}>
          Send
        </Button>
      </span>
    </form>
  )
}

function placeholderFor(columns: number, goingOn: number): string {
  if (goingOn === 0) return "Run first; then the next message goes on from each answer"
  if (columns === 1) return "Next message"
  return `Next message to ${goingOn === columns ? "all" : goingOn} of them, each goes on from its own answer`
}
