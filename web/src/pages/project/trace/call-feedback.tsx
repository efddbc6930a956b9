/** Feedback of people and scorers on a call, and a line to add more. */
import { ThumbsDown, ThumbsUp } from "lucide-react"
import { type FormEvent, useRef } from "react"
import { useGiveFeedback } from "../../../api/calls/feedback.ts"
import { useMayLabel } from "../../../api/rights.ts"
import type { FeedbackMark } from "../../../calls/call-summary.ts"
import { Button } from "../../../components/controls/button.tsx"
import { TextField } from "../../../components/controls/field.tsx"
import { type Head, PlainTable } from "../../../components/layout/plain-table.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { useKeys } from "../../../keys/use-keys.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./call-feedback.module.css"

interface CallFeedbackProps {
  project: CurrentProject
  callId: string
  marks: readonly FeedbackMark[]
  /** What is typed and not saved. */
  note: string
  onNote: (note: string) => void
}

const heads: Head[] = [
  { name: "Name", className: styles.name },
  { name: "Value" },
  { name: "By", className: styles.by },
  { name: "Time", className: styles.time },
]

export function CallFeedback({ project, callId, marks, note, onNote }: CallFeedbackProps) {
  const field = useRef<HTMLInputElement>(null)
  const give = useGiveFeedback()
  const mayGive = useMayLabel(project.id)
  const send = (feedback_type: string, payload: Record<string, unknown>, onSuccess?: () => void) =>
    give.mutate(
      { project_id: project.id, weave_ref: `weave:///${project.id}/call/${callId}`, feedback_type, payload },
      onSuccess === undefined ? {} : { onSuccess },
    )
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (note.trim() !== "") send("wandb.note.1", { note: note.trim() }, () => onNote(""))
  }
  const react = (emoji: string) =>
    send("wandb.reaction.1", { emoji, alias: emoji, detoned: emoji, detoned_alias: emoji })
  useKeys(mayGive ? [{ keys: "n", label: "note", group: "Trace", run: () => field.current?.focus() }] : [])
  return (
    <div className={styles.feedback}>
      {marks.length === 0 ? (
        <p className={styles.none}>Nobody has said anything of this call yet.</p>
      ) : (
        <PlainTable label="Feedback" heads={heads}>
          {marks.map(({ id, kind, name, text, creator, at }) => (
            <tr key={id}>
              <td className={styles.name}>{kind === "reaction" ? "reaction" : name}</td>
              <td className={styles.value} title={text}>
                {text}
              </td>
              <td className={styles.by}>{creator ?? ""}</td>
              <td className={styles.time}>
                <Time at={at} />
              </td>
            </tr>
          ))}
        </PlainTable>
      )}
      {give.error !== null && <ErrorNote what="The feedback was not stored." error={give.error} />}
      {mayGive && (
        <form className={styles.form} onSubmit={save}>
          <Button icon={ThumbsUp} aria-label="Good" isBusy={give.isPending} onClick={() => react("👍")} />
          <Button icon={ThumbsDown} aria-label="Bad" isBusy={give.isPending} onClick={() => react("👎")} />
          <TextField
            ref={field}
            label="Note"
            isLabelHidden
            placeholder="Note"
            value={note}
            onChange={(event) => onNote(event.target.value)}
          />
          <Button type="submit" disabled={give.isPending || note.trim() === ""}>
            Save note
          </Button>
        </form>
      )}
    </div>
  )
}
