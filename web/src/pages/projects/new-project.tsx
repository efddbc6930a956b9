/** A project before anything is stored in it. */
import { useNavigate } from "@tanstack/react-router"
import { type FormEvent, useState } from "react"
import { useCreateProject } from "../../api/projects.ts"
import { Button } from "../../components/controls/button.tsx"
import { SelectField, TextField } from "../../components/controls/field.tsx"
import { Dialog } from "../../components/layers/dialog.tsx"
import styles from "./new-project.module.css"

export function NewProject({ entities, onClose }: { entities: readonly string[]; onClose: () => void }) {
  const [entity, setEntity] = useState(entities[0] ?? "")
  const [name, setName] = useState("")
  const create = useCreateProject()
  const navigate = useNavigate()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(
      { entity, name: name.trim() },
      {
        onSuccess: (project) =>
          void navigate({ to: "/$entity/$project", params: { entity: project.entity, project: project.name } }),
      },
    )
  }
  return (
    <Dialog title="New project" isOpen onClose={onClose} width={400}>
      <form className={styles.form} onSubmit={submit}>
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
        <div className={styles.actions}>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="primary" type="submit" disabled={name.trim() === "" || create.isPending}>
            Make project
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
