/** Turns shared by all columns: instructions, messages, results. Each can be edited and sent again. */
import { Play, Plus, Trash2 } from "lucide-react"
import { Button } from "../../../components/controls/button.tsx"
import type { Turn } from "../../../playground/conversation.ts"
import { ToolCalls } from "./tool-calls.tsx"
import styles from "./prompt-turns.module.css"

const roles = ["system", "user", "assistant", "tool"]

interface PromptTurnsProps {
  prompt: readonly Turn[]
  hasAnswers: boolean
  onChange: (prompt: Turn[]) => void
  onRun: (prompt: Turn[]) => void
}

export function PromptTurns({ prompt, hasAnswers, onChange, onRun }: PromptTurnsProps) {
  const put = (index: number, turn: Turn) => onChange(prompt.toSpliced(index, 1, turn))
  const add = () => {
    const role = prompt.at(-1)?.role === "user" ? "assistant" : "user"
    onChange([...prompt, { role, text: "" }])
  }
  return (
    <section className={styles.prompt} aria-label="Prompt">
      <ol className={styles.turns}>
        {prompt.map((turn, index) => {
          const { role, text, toolCalls } = turn
          return (
            <li key={index} className={styles.turn}>
              <select
                className={styles.role}
                aria-label={`Role of message ${index + 1}`}
                value={role}
                onChange={(event) => put(index, { ...turn, role: event.target.value })}
              >
                {[...new Set([...roles, role])].map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
              <div className={styles.said}>
                <textarea
                  className={styles.text}
                  aria-label={`Message ${index + 1}, ${role}`}
                  placeholder={role === "system" ? "Instructions" : role === "user" ? "What is asked" : "What was said"}
                  rows={1}
                  dir="auto"
                  value={text}
                  onChange={(event) => put(index, { ...turn, text: event.target.value })}
                />
                {toolCalls !== undefined && <ToolCalls calls={toolCalls} />}
              </div>
              <span className={styles.actions}>
                {(hasAnswers || index < prompt.length - 1) && (
                  <Button
                    size="small"
                    kind="quiet"
                    icon={Play}
                    title={
                      index < prompt.length - 1
                        ? "Takes away what follows, and asks every model again"
                        : "Asks every model again"
                    }
                    onClick={() => onRun(prompt.slice(0, index + 1))}
                  >
                    Run from here
                  </Button>
                )}
                <Button
                  size="small"
                  kind="quiet"
                  icon={Trash2}
                  aria-label={`Take message ${index + 1} out`}
                  disabled={prompt.length === 1}
                  onClick={() => onChange(prompt.toSpliced(index, 1))}
                />
              </span>
            </li>
          )
        })}
      </ol>
      <div className={styles.add}>
        <Button size="small" kind="quiet" icon={Plus} onClick={add}>
          Message
        </Button>
        {prompt[0]?.role !== "system" && (
          <Button
            size="small"
            kind="quiet"
            icon={Plus}
            onClick={() => onChange([{ role: "system", text: "" }, ...prompt])}
          >
            Instructions
          </Button>
        )}
      </div>
    </section>
  )
}
