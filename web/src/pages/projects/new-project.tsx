/** A project before anything is stored in it. */
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { useCreateProject } from "../../api/organization/projects.ts"
import { SelectField, TextField } from "../../components/controls/field.tsx"
import { FormDialog } from "../../components/layers/form-dialog.tsx"
import { useWhileShown } from "../../url/use-while-shown.ts"

export function NewProject({ entities, onClose }: { entities: readonly string[]; onClose: () => void }) {
  const [entity, setEntity] = useState(entities[0] ?? "")
  const [name, setName] = useState("")
  const create = useCreateProject()
  const navigate = useNavigate()
  const whileShown = useWhileShown()
  const submit = () => {
    create.mutate(
      { entity, name: name.trim() },
      {
        onSuccess: (project) => {
          const params = { entity: project.entity, project: project.name }
          void whileShown(() => navigate({ to: "/$entity/$project", params }))
        },
      },
    )
  }
  return (
    <FormDialog
      title="New project"
      width={400}
      action="Make project"
      isReady={name.trim() !== ""}
      isPending={create.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <SelectField label="Team" value={entity} onChange={(event) => setEntity(event.target.value)}>
        {entities.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </SelectField>
      <TextField
        label="Name"
        autoFocus
        value={name}
        onChange={(event) => setName(event.target.value)}
        hint="It is a part of addresses: no / \ # ? % or :"
        error={create.error?.message}
      />
    </FormDialog>
  )
}
