/** Makes a key: its name, what it may be used for, when it ends, and, where somebody else may have it, whose it is. */
import type { KeyScope } from "@heddle/server/wire/platform/access.ts"
import { useState } from "react"
import { type CreatedApiKey, useCreateApiKey } from "../../../../api/organization/api-keys.ts"
import { useProgramsOfTeams, useUsers } from "../../../../api/organization/organization.ts"
import { useSession } from "../../../../api/session.ts"
import { useNow } from "../../../../clock/use-now.ts"
import { SelectField, TextField } from "../../../../components/controls/field.tsx"
import { FormDialog } from "../../../../components/layers/form-dialog.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { endOfKey, keyLives, type KeyLife } from "./key-lives.ts"
import { keyScopes, scopeWords } from "./key-scopes.ts"

interface NewKeyProps {
  onMade: (made: CreatedApiKey) => void
  onClose: () => void
}

export function NewKey({ onMade, onClose }: NewKeyProps) {
  const { user } = useSession()
  const users = useUsers({ enabled: user.is_admin })
  const [name, setName] = useState("")
  const [username, setUsername] = useState(user.username)
  const [scope, setScope] = useState<KeyScope>("all")
  const programs = useProgramsOfTeams(!user.is_admin)
  const [life, setLife] = useState<KeyLife>("90 days")
  const [day, setDay] = useState("")
  const create = useCreateApiKey()
  const now = useNow(60)
  const end = endOfKey(life, day, now)
  const owners = user.is_admin
    ? (users.data?.data.filter(({ disabled }) => !disabled) ?? [user]).map((one) => one.username)
    : [user.username, ...programs]
  const submit = () => {
    const body = { name: name.trim(), username, scope, ...(end === null ? {} : { expires_at: end.toISOString() }) }
    create.mutate(body, {
      onSuccess: (made) => {
        onMade(made)
        onClose()
      },
    })
  }
  return (
    <FormDialog
      title="New key"
      width={420}
      action="Make key"
      isReady={name.trim() !== ""}
      isPending={create.isPending}
      isShownOnce
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Name"
        autoFocus
        maxLength={128}
        value={name}
        onChange={(event) => setName(event.target.value)}
        hint="The program or machine that it is for: it stands in the record of changes."
      />
      {owners.length > 1 && (
        <SelectField label="Whose it is" value={username} onChange={(event) => setUsername(event.target.value)}>
          {owners.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
      )}
      <SelectField
        label="What it may be used for"
        value={scope}
        onChange={(event) => setScope(event.target.value as KeyScope)}
        hint={scopeWords[scope].hint}
      >
        {keyScopes.map((one) => (
          <option key={one} value={one}>
            {scopeWords[one].name}
          </option>
        ))}
      </SelectField>
      <SelectField label="Ends after" value={life} onChange={(event) => setLife(event.target.value as KeyLife)}>
        {keyLives.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </SelectField>
      {life === "until a day" && (
        <TextField
          label="Last day"
          type="date"
          required
          value={day}
          onChange={(event) => setDay(event.target.value)}
          error={end !== null && end.getTime() < now ? "The day is past; choose one to come." : undefined}
        />
      )}
      {create.error && <ErrorNote what="No key was made." error={create.error} />}
    </FormDialog>
  )
}
