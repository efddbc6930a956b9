/** Makes a team; whoever makes it is its first member. */
import { type FormEvent, useState } from "react"
import { useCreateTeam } from "../../../../api/organization.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { TextField } from "../../../../components/controls/field.tsx"
import { Dialog } from "../../../../components/layers/dialog.tsx"
import styles from "./new-user.module.css"

export function NewTeam({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("")
  const create = useCreateTeam()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate({ name: name.trim() }, { onSuccess: onClose })
  }
  return (
    <Dialog title="New team" isOpen onClose={onClose} width={400}>
      <form className={styles.form} onSubmit={submit}>
        <TextField
          label="Name"
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
          hint="The first part of its projects’ names. You are its first member."
          error={create.error?.message}
        />
        <div className={styles.actions}>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="primary" type="submit" disabled={name.trim() === "" || create.isPending}>
            Make team
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
