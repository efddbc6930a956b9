/** Good or bad, as feedback on the recorded call. */
import { ThumbsDown, ThumbsUp } from "lucide-react"
import { useGiveFeedback } from "../../../api/calls/feedback.ts"
import { Button } from "../../../components/controls/button.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import type { Answer } from "../../../playground/conversation.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"

interface AnswerMarksProps {
  project: CurrentProject
  answer: Answer
  onMarked: (callId: string, mark: "good" | "bad") => void
}

export function AnswerMarks({ project, answer: { callId, isCorrected, mark }, onMarked }: AnswerMarksProps) {
  const give = useGiveFeedback()
  if (callId === null || isCorrected) return null
  const react = (kind: "good" | "bad") => {
    const emoji = kind === "good" ? "👍" : "👎"
    give.mutate(
      {
        project_id: project.id,
        weave_ref: `weave:///${project.id}/call/${callId}`,
        feedback_type: "wandb.reaction.1",
        payload: { emoji, alias: emoji, detoned: emoji, detoned_alias: emoji },
      },
      { onSuccess: () => onMarked(callId, kind) },
    )
  }
  return (
    <>
      <Button
        size="small"
        icon={ThumbsUp}
        aria-label="Good"
        isOn={mark === "good"}
        disabled={give.isPending || mark !== undefined}
        onClick={() => react("good")}
      />
      <Button
        size="small"
        icon={ThumbsDown}
        aria-label="Bad"
        isOn={mark === "bad"}
        disabled={give.isPending || mark !== undefined}
        onClick={() => react("bad")}
      />
      {give.error !== null && <ErrorNote what="The mark was not stored." error={give.error} />}
    </>
  )
}
