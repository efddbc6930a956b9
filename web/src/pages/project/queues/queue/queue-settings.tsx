/** Name, questions and requirements of a queue; and its end. */
import type { AnnotationQueue } from "@heddle/server/wire/labelling/annotation-queue.ts"
import { useNavigate } from "@tanstack/react-router"
import { type FormEvent, useState } from "react"
import type { ApiError } from "../../../../api/api-error.ts"
import { useChangeQueue, useDeleteQueue } from "../../../../api/labelling/queue-changes.ts"
import { createField } from "../../../../api/labelling/labelling.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { SelectField, TextArea, TextField } from "../../../../components/controls/field.tsx"
import { Confirm } from "../../../../components/layers/confirm.tsx"
import { Dialog } from "../../../../components/layers/dialog.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { type FieldDraft, fieldFaults, fieldSchema, objectName } from "../../../../labelling/field-draft.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { useWhileShown } from "../../../../url/use-while-shown.ts"
import { FieldsEditor, useProjectFields } from "../fields-editor.tsx"
import styles from "./queue-settings.module.css"

interface QueueSettingsProps {
  project: CurrentProject
  queue: AnnotationQueue
  mayWrite: boolean
  onClose: () => void
}

const leases = { 300: "5 minutes", 900: "15 minutes", 3600: "1 hour", 86_400: "1 day" }

export function QueueSettings({ project, queue, mayWrite, onClose }: QueueSettingsProps) {
  const known = useProjectFields(project.id).fields.map((field) => field.name)
  const [name, setName] = useState(queue.name)
  const [instructions, setInstructions] = useState(queue.description)
  const [people, setPeople] = useState(String(queue.required_annotators ?? 0))
  const [lease, setLease] = useState(String(queue.lease_seconds ?? 900))
  const [chosen, setChosen] = useState<readonly string[]>(queue.scorer_refs)
  const [added, setAdded] = useState<readonly FieldDraft[]>([])
  const [isChecked, setChecked] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const [failure, setFailure] = useState<ApiError | null>(null)
  const change = useChangeQueue(queue.id)
  const whileShown = useWhileShown()
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setChecked(true)
    if (isSaving || name.trim() === "" || fieldFaults(added, known).some((fault) => fault !== null)) return
    setFailure(null)
    setSaving(true)
    try {
      const refs = [...chosen]
      for (const field of added) {
        const val = { name: field.name.trim(), description: field.rule.trim(), field_schema: fieldSchema(field) }
        refs.push(await createField(project.id, objectName(field.name), val))
        setChosen([...refs])
        setAdded((left) => left.filter((one) => one !== field))
      }
      await change.mutateAsync({
        project_id: project.id,
        name: name.trim(),
        description: instructions,
        scorer_refs: refs,
        required_annotators: Number(people),
        lease_seconds: Number(lease),
      })
      await whileShown(onClose)
    } catch (error) {
      setFailure(error as ApiError)
    }
    setSaving(false)
  }
  if (isDeleting) return <DeleteQueue project={project} queue={queue} onClose={() => setDeleting(false)} />
  return (
    <Dialog title="Queue settings" isOpen onClose={onClose} width={640} isForm>
      <form className={styles.form} onSubmit={(event) => void save(event)}>
        <TextField
          label="Name"
          value={name}
          maxLength={256}
          error={isChecked && name.trim() === "" ? "Give the queue a name." : null}
          onChange={(event) => setName(event.target.value)}
        />
        <div className={styles.row}>
          <SelectField label="People an item" value={people} onChange={(event) => setPeople(event.target.value)}>
            <option value="0">not counted</option>
            {[1, 2, 3, 4, 5].map((number) => (
              <option key={number}>{number}</option>
            ))}
            {Number(people) > 5 && <option>{people}</option>}
          </SelectField>
          <SelectField label="An item is kept for" value={lease} onChange={(event) => setLease(event.target.value)}>
            {Object.entries(leases).map(([seconds, words]) => (
              <option key={seconds} value={seconds}>
                {words}
              </option>
            ))}
            {!Object.hasOwn(leases, lease) && <option value={lease}>{lease} seconds</option>}
          </SelectField>
        </div>
        <TextArea
          label="Instructions, as Markdown"
          rows={4}
          value={instructions}
          onChange={(event) => setInstructions(event.target.value)}
        />
        <h3 className={styles.title}>Questions</h3>
        <FieldsEditor
          projectId={project.id}
          chosen={chosen}
          onChosen={setChosen}
          added={added}
          onAdded={setAdded}
          isChecked={isChecked}
        />
        {failure !== null && <ErrorNote what="The settings were not stored." error={failure} />}
        <div className={styles.actions}>
          <span className={styles.first}>
            <Button kind="danger" disabled={!mayWrite} onClick={() => setDeleting(true)}>
              Delete the queue…
            </Button>
          </span>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="primary" type="submit" disabled={!mayWrite || isSaving}>
            {isSaving ? "Saving…" : "Save"}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface DeleteQueueProps {
  project: CurrentProject
  queue: AnnotationQueue
  onClose: () => void
}

function DeleteQueue({ project, queue, onClose }: DeleteQueueProps) {
  const navigate = useNavigate()
  const remove = useDeleteQueue(queue.id)
  const whileShown = useWhileShown()
  const leave = () => whileShown(() => navigate({ to: "/$entity/$project/queues", params: project.params }))
  return (
    <Confirm
      title={`Delete the queue ${queue.name}?`}
      action={`Delete ${queue.name}`}
      failure="The queue was not deleted."
      change={remove}
      onConfirm={() => remove.mutate({ project_id: project.id, leave })}
      onClose={onClose}
    >
      <p>
        Its items, who did what, and decisions about disputes are not reached any more. Labels stay, as feedback on
        their calls.
      </p>
    </Confirm>
  )
}
