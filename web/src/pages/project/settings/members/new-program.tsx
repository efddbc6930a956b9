/** Makes the account of a program, and says how the program comes in. */
import { useState } from "react"
import { useCreateServiceAccount } from "../../../../api/organization/organization.ts"
import { TextField } from "../../../../components/controls/field.tsx"
import { FormDialog } from "../../../../components/layers/form-dialog.tsx"

export function NewProgram({ team, onClose }: { team: string; onClose: () => void }) {
  const [name, setName] = useState("")
  const create = useCreateServiceAccount()
  const submit = () => create.mutate({ team, name: name.trim() }, { onSuccess: onClose })
  return (
    <FormDialog
      title="New program"
      width={440}
      action="Make program"
      isReady={name.trim() !== ""}
      isPending={create.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onChange={(event) => setName(event.target.value)}
        hint={`It is called ${name.trim() || "name"}@${team}. Its keys stay when people leave: make one under API keys.`}
        error={create.error?.message}
      />
    </FormDialog>
  )
}
