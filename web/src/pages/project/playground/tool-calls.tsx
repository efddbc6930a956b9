/** Which tools were called, and with what; and where their results are written. */
import { Wrench } from "lucide-react"
import { type FormEvent, useState } from "react"
import { Button } from "../../../components/controls/button.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import type { ToolCall, Turn } from "../../../playground/conversation.ts"
import styles from "./tool-calls.module.css"

export function ToolCalls({ calls }: { calls: readonly ToolCall[] }) {
  return calls.map(({ id, name, arguments: text }) => (
    <div key={id} className={styles.call}>
      <div className={styles.head}>
        <Icon of={Wrench} size={12} /> <b>{name}</b>
      </div>
      <pre className={styles.text} tabIndex={0} aria-label={`Arguments of ${name}`}>
        {text}
      </pre>
    </div>
  ))
}

interface ToolResultsProps {
  calls: readonly ToolCall[]
  /** Turns of the role `tool`, one a call. */
  onSend: (results: Turn[]) => void
}

/** The model waits for what its tools gave. */
export function ToolResults({ calls, onSend }: ToolResultsProps) {
  const [texts, setTexts] = useState<Record<string, string>>({})
  const send = (event: FormEvent) => {
    event.preventDefault()
    onSend(calls.map(({ id }) => ({ role: "tool", text: texts[id] ?? "", toolCallId: id })))
  }
  return (
    <form className={styles.results} onSubmit={send}>
      {calls.map(({ id, name }) => (
        <label key={id} className={styles.result}>
          Result of {name}
          <textarea
            className={styles.field}
            rows={2}
            placeholder="What the tool gave, as text or JSON"
            value={texts[id] ?? ""}
            onChange={(event) => setTexts({ ...texts, [id]: event.target.value })}
          />
        </label>
      ))}
      <Button size="small" type="submit" disabled={calls.some(({ id }) => (texts[id] ?? "").trim() === "")}>
        Send {calls.length === 1 ? "result" : `${calls.length} results`}
      </Button>
    </form>
  )
}
