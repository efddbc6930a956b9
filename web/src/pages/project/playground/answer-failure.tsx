/** Why a model did not answer, and when it can be asked again. */
import { RotateCcw } from "lucide-react"
import { useNow } from "../../../clock/use-now.ts"
import { Button } from "../../../components/controls/button.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { Note } from "../../../components/states/note.tsx"
import type { Answer } from "../../../playground/conversation.ts"
import styles from "./answer-failure.module.css"

interface AnswerFailureProps {
  failure: NonNullable<Answer["failure"]>
  onAgain: () => void
}

const failureTitles: Record<string, string> = {
  context_length_exceeded: "The conversation is too long for this model.",
  model_not_found: "There is no such model here.",
  rate_limit_exceeded: "Too much is asked at once.",
  engine_overloaded: "The engine is busy.",
  engine_unavailable: "The engine is away.",
  offline: "The server does not answer.",
  not_sent: "Nothing was asked.",
  forbidden: "Your role does not allow it.",
}

/** The other columns are not touched by it. */
export function AnswerFailure({ failure, onAgain }: AnswerFailureProps) {
  const now = useNow(1)
  const left = failure.retryAt === null ? 0 : Math.ceil((failure.retryAt - now) / 1000)
  return (
    <Note
      kind="bad"
      title={failureTitles[failure.code] ?? "The model did not answer."}
      actions={
        <>
          <Button size="small" icon={RotateCcw} disabled={left > 0} onClick={onAgain}>
            {left > 0 ? `Ask again in ${left} s` : "Ask again"}
          </Button>
          {failure.requestId !== null && (
            <span className={styles.dim}>
              request <code>{failure.requestId.slice(0, 8)}</code>{" "}
              <CopyButton text={failure.requestId} label="Copy the request's id" />
            </span>
          )}
        </>
      }
    >
      {failure.message}
    </Note>
  )
}
