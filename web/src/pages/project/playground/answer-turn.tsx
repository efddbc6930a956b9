/** One turn of a column: shown, and edited in place. */
import { Pencil, RotateCcw } from "lucide-react"
import { useState } from "react"
import { Button } from "../../../components/controls/button.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import type { Turn } from "../../../playground/conversation.ts"
import { AnswerFailure } from "./answer-failure.tsx"
import { AnswerText } from "./answer-text.tsx"
import type { AnswerColor } from "./playground-search.ts"
import { ToolCalls } from "./tool-calls.tsx"
import styles from "./answer-turn.module.css"

interface AnswerTurnProps {
  turn: Turn
  color: AnswerColor
  compared: string | null
  isLast: boolean
  /** Why nothing can be asked again, which would take the answer away. */
  problem: string | null
  onEdit: (text: string) => void
  onAgain: () => void
  onFork: (token: number, other: string) => void
}

export function AnswerTurn({ turn, color, compared, isLast, problem, onEdit, onAgain, onFork }: AnswerTurnProps) {
  const [edited, setEdited] = useState<string | null>(null)
  const { role, text, toolCalls, answer } = turn
  const isAnswer = role === "assistant"
  const isRunning = answer?.state === "running"
  if (edited !== null) {
    return (
      <form
        className={styles.edit}
        onSubmit={(event) => {
          event.preventDefault()
          onEdit(edited)
          setEdited(null)
        }}
      >
        <textarea
          className={styles.editText}
          aria-label={isAnswer ? "The answer as it should be" : `The ${role}'s message`}
          autoFocus
          rows={4}
          value={edited}
          onChange={(event) => setEdited(event.target.value)}
        />
        <span className={styles.row}>
          <Button size="small" kind="primary" type="submit">
            {isAnswer ? "Put right" : "Run from here"}
          </Button>
          <Button size="small" onClick={() => setEdited(null)}>
            Leave it
          </Button>
        </span>
      </form>
    )
  }
  return (
    <div className={isAnswer ? styles.said : styles.told}>
      {!isAnswer && <span className={styles.who}>{role}</span>}
      {answer !== undefined && answer.reasoning !== "" && (
        <details className={styles.reasoning} open={isRunning && text === ""}>
          <summary>Thinking</summary>
          {answer.reasoning}
        </details>
      )}
      {isAnswer ? (
        <AnswerText turn={turn} color={color} compared={compared} onFork={onFork} />
      ) : (
        <p className={styles.plain}>{text}</p>
      )}
      {toolCalls !== undefined && <ToolCalls calls={toolCalls} />}
      {answer?.state === "stopped" && <p className={styles.dim}>Stopped here.</p>}
      {answer?.finish === "length" && <p className={styles.dim}>Cut off: it had no more tokens.</p>}
      {answer?.failure != null && <AnswerFailure failure={answer.failure} onAgain={onAgain} />}
      {!isRunning && (
        <span className={styles.turnTools}>
          {(isAnswer ? answer?.state !== "failed" : role === "user") && (
            <Button size="small" kind="quiet" icon={Pencil} onClick={() => setEdited(text)}>
              Edit
            </Button>
          )}
          {isAnswer && answer?.state !== "failed" && (
            <Button
              size="small"
              kind="quiet"
              icon={RotateCcw}
              title={problem ?? (isLast ? undefined : "Takes away what follows")}
              disabled={problem !== null}
              onClick={onAgain}
            >
              Ask again
            </Button>
          )}
          {isAnswer && text !== "" && <CopyButton text={text} label="Copy the answer" />}
        </span>
      )}
    </div>
  )
}
