/** Makes the account of a program, and says how the program comes in. */
import { type FormEvent, useState } from "react"
import { useCreateServiceAccount } from "../../../../api/organization.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { TextField } from "../../../../components/controls/field.tsx"
import { Dialog } from "../../../../components/layers/dialog.tsx"
import styles from "./invite.module.css"

export function NewProgram({ team, onClose }: { team: string; onClose: () => void }) {
  const [name, setName] = useState("")
  const create = useCreateServiceAccount()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate({ team, name: name.trim() }, { onSuccess: onClose })
  }
  return (
    <Dialog title="New program" isOpen onClose={onClose} width={440}>
      <form className={styles.form} onSubmit={submit}>
        <TextField
          label="Name"
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
          hint={`It is called ${name.trim() || "name"}@${team}. Its keys stay when people leave: make one under API keys.`}
          error={create.error?.message}
        />
        <div className={styles.actions}>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="primary" type="submit" disabled={name.trim() === "" || create.isPending}>
            Make program
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
