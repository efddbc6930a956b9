/** Makes a team; whoever makes it is its first member. */
import { useState } from "react"
import { useCreateTeam } from "../../../../api/organization/organization.ts"
import { TextField } from "../../../../components/controls/field.tsx"
import { FormDialog } from "../../../../components/layers/form-dialog.tsx"

export function NewTeam({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("")
  const create = useCreateTeam()
  const submit = () => create.mutate({ name: name.trim() }, { onSuccess: onClose })
  return (
    <FormDialog
      title="New team"
      width={400}
      action="Make team"
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
        hint="The first part of its projects’ names. You are its first member."
        error={create.error?.message}
      />
    </FormDialog>
  )
}
