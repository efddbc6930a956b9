/** What a run is called, its tags and notes; and its end. */
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { useChangeRun } from "../../../../api/runs/run-changes.ts"
import type { OneRun } from "../../../../api/runs/runs.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { TextArea, TextField } from "../../../../components/controls/field.tsx"
import { FormDialog } from "../../../../components/layers/form-dialog.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { useWhileShown } from "../../../../url/use-while-shown.ts"
import { DeleteRuns } from "../delete-runs.tsx"

interface RunSettingsProps {
  project: CurrentProject
  run: OneRun
  onClose: () => void
}

export function RunSettings({ project, run, onClose }: RunSettingsProps) {
  // Of each, null: left as it is, whoever changes it meanwhile.
  const [name, setName] = useState<string | null>(null)
  const [tags, setTags] = useState<string | null>(null)
  const [notes, setNotes] = useState<string | null>(null)
  const [isChecked, setChecked] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const change = useChangeRun(run.id)
  if (isDeleting) return <DeleteRun project={project} run={run} onClose={() => setDeleting(false)} />
  const isNamed = name === null || name.trim() !== ""
  const save = () => {
    setChecked(true)
    if (!isNamed || change.isPending) return
    const words = {
      ...(name === null ? {} : { displayName: name.trim() }),
      ...(tags === null ? {} : { tags: tagsOf(tags) }),
      ...(notes === null ? {} : { notes }),
    }
    if (Object.keys(words).length === 0) onClose()
    else change.mutate(words, { onSuccess: onClose })
  }
  return (
    <FormDialog
      title="Edit the run"
      width={520}
      action={change.isPending ? "Saving…" : "Save"}
      isReady
      isPending={change.isPending}
      onSubmit={save}
      onClose={onClose}
      otherActions={
        <Button kind="danger" onClick={() => setDeleting(true)}>
          Delete the run…
        </Button>
      }
    >
      <TextField
        label="Name"
        autoFocus
        maxLength={256}
        value={name ?? (run.displayName || run.name)}
        error={isChecked && !isNamed ? "Give the run a name." : null}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label="Tags"
        hint="with commas between them"
        value={tags ?? run.tags.join(", ")}
        onChange={({ target }) => setTags(target.value)}
      />
      <TextArea
        label="Notes"
        rows={4}
        value={notes ?? run.notes ?? ""}
        onChange={({ target }) => setNotes(target.value)}
      />
      {change.error && <ErrorNote what="The run is as before." error={change.error} />}
    </FormDialog>
  )
}

function DeleteRun({ project, run, onClose }: RunSettingsProps) {
  const navigate = useNavigate()
  const whileShown = useWhileShown()
  const leave = () =>
    whileShown(() => navigate({ to: "/$entity/$project/runs", params: project.params, replace: true }))
  return <DeleteRuns runs={[run]} leave={leave} onClose={onClose} />
}

const tagsOf = (text: string) => [...new Set(text.split(",").flatMap((tag) => tag.trim() || []))]
