/** An answer with what was asked, as a row at the end of a dataset: the dataset's next version. */
import { type FormEvent, useState } from "react"
import { useAddDatasetRow, useLinkDatasetRow } from "../../../api/objects/dataset-rows.ts"
import { useObjectVersions } from "../../../api/objects/object-versions.ts"
import { Button } from "../../../components/controls/button.tsx"
import { SelectField, TextArea, TextField } from "../../../components/controls/field.tsx"
import { Segmented } from "../../../components/controls/segmented.tsx"
import { Dialog } from "../../../components/layers/dialog.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { Note } from "../../../components/states/note.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { rowProblem } from "../../../objects/row-text.ts"
import type { Turn } from "../../../playground/conversation.ts"
import { type RowShape, rowOf } from "../../../playground/dataset-row.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./save-row.module.css"

interface SaveRowProps {
  project: CurrentProject
  prompt: readonly Turn[]
  answer: Turn
  tools: string
  onClose: () => void
}

const shapes: { value: RowShape; label: string }[] = [
  { value: "dialogue", label: "Dialogue to train on" },
  { value: "question", label: "Question and expected answer" },
]

export function SaveRow({ project, prompt, answer, tools, onClose }: SaveRowProps) {
  const [shape, setShape] = useState<RowShape>("dialogue")
  const [row, setRow] = useState(() => rowOf("dialogue", { prompt, answer, tools }))
  const [chosen, setChosen] = useState<string | null>(null)
  const [name, setName] = useState("")
  const datasets = useObjectVersions({
    project_id: project.id,
    filter: { base_object_classes: ["Dataset"], latest_only: true },
    metadata_only: true,
    sort_by: [{ field: "created_at", direction: "desc" }],
    limit: 200,
  })
  const add = useAddDatasetRow()
  const link = useLinkDatasetRow()
  const names = (datasets.data ?? []).map(({ object_id: id }) => id)
  const into = chosen ?? names[0] ?? ""
  const isNew = into === "" || !names.includes(into)
  const target = isNew ? name.trim() : into
  const problem = rowProblem(row, '{"messages": […]}')
  const save = (event: FormEvent) => {
    event.preventDefault()
    const { callId = null, traceId = null } = answer.answer ?? {}
    const source = callId === null || traceId === null ? null : { callId, traceId }
    add.mutate({ projectId: project.id, dataset: target, row, source })
  }
  const { params } = project
  if (add.data !== undefined) {
    const { data: saved, variables: added } = add
    const linkError = link.isSuccess ? null : (link.error ?? saved.linkError)
    return (
      <Dialog title="Saved" isOpen onClose={onClose} width={560}>
        <div className={styles.form}>
          <Note kind="good" title={`The row is the last of ${target}.`}>
            <TextLink
              to="/$entity/$project/objects/$name/versions/$version"
              params={{ ...params, name: target, version: saved.digest }}
            >
              Open its new version
            </TextLink>
          </Note>
          {linkError !== null && (
            <ErrorNote
              what="The row does not name the call that it came from."
              error={linkError}
              onRetry={linkError.isPassing ? () => link.mutate({ added, saved }) : undefined}
            />
          )}
          <div className={styles.actions}>
            <Button kind="primary" autoFocus onClick={onClose}>
              Go on
            </Button>
          </div>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title="Save as a row of a dataset" isOpen onClose={onClose} width={680} isForm>
      <form className={styles.form} onSubmit={save}>
        <SelectField
          label="Dataset"
          value={isNew ? "" : into}
          onChange={(event) => setChosen(event.target.value === "" ? " " : event.target.value)}
          hint="It gets a new version; the versions before stay as they are."
        >
          {names.map((one) => (
            <option key={one}>{one}</option>
          ))}
          <option value="">A new one…</option>
        </SelectField>
        {isNew && (
          <TextField
            label="Name of the new dataset"
            value={name}
            autoFocus
            placeholder="playground-answers"
            onChange={(event) => setName(event.target.value)}
            error={
              name.trim() === "" || /^[\w.-]{1,128}$/.test(name.trim())
                ? null
                : "Letters, digits, dots, dashes and _ make a name."
            }
          />
        )}
        <Segmented
          label="Shape of the row"
          value={shape}
          segments={shapes}
          onChange={(value) => {
            setShape(value)
            setRow(rowOf(value, { prompt, answer, tools }))
          }}
        />
        <TextArea
          label="The row, JSON"
          isLabelHidden
          isMono
          error={problem}
          rows={12}
          spellCheck={false}
          value={row}
          onChange={(event) => setRow(event.target.value)}
        />
        {add.error !== null && (
          <ErrorNote
            what={add.error.isUnanswered ? "It may be saved or not: save it again." : "The row was not saved."}
            error={add.error}
          />
        )}
        <div className={styles.actions}>
          <Button onClick={onClose}>Leave it</Button>
          <Button
            kind="primary"
            type="submit"
            disabled={
              target === "" ||
              !/^[\w.-]{1,128}$/.test(target) ||
              problem !== null ||
              add.isPending ||
              datasets.data === undefined
            }
          >
            {add.isPending ? "Saving…" : target === "" ? "Save" : `Save to ${target}`}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
