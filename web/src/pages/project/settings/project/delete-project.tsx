/** Deletes a project, after saying what goes with it and having its name typed. */
import { useNavigate } from "@tanstack/react-router"
import { Trash2 } from "lucide-react"
import { useState } from "react"
import { useDeleteProject } from "../../../../api/organization/projects.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { TextField } from "../../../../components/controls/field.tsx"
import { Confirm } from "../../../../components/layers/confirm.tsx"
import { useWhileShown } from "../../../../url/use-while-shown.ts"

interface ProjectNames {
  entity: string
  project: string
}

export function DeleteProject(names: ProjectNames) {
  const [isConfirming, setConfirming] = useState(false)
  return (
    <>
      <Button kind="danger" icon={Trash2} onClick={() => setConfirming(true)}>
        Delete project…
      </Button>
      {isConfirming && <ConfirmDeletion {...names} onClose={() => setConfirming(false)} />}
    </>
  )
}

function ConfirmDeletion({ entity, project, onClose }: ProjectNames & { onClose: () => void }) {
  const [typed, setTyped] = useState("")
  const remove = useDeleteProject()
  const navigate = useNavigate()
  const whileShown = useWhileShown()
  const leave = () => whileShown(() => navigate({ to: "/" }))
  return (
    <Confirm
      title={`Delete ${entity}/${project}?`}
      action="Delete project"
      failure="The project is as before."
      change={remove}
      isReady={typed.trim() === project}
      onConfirm={() => remove.mutate({ entity, name: project, leave })}
      onClose={onClose}
    >
      <p>
        Its traces, feedback, datasets, prompts, evaluations, labels, runs, costs and usage are deleted, and its models
        with every step. Jobs that run are cancelled. It cannot be undone.
      </p>
      <p>
        Kept: uploaded training files, which are the team's, and the entry in the record of changes that says who did
        it. A client that goes on logging makes a new project of this name, an empty one.
      </p>
      <TextField
        label={`To go on, type ${project}`}
        autoFocus
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </Confirm>
  )
}
