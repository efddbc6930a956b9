/** Makes a user, and says how they come in. */
import { useState } from "react"
import { useCreateUser, useTeams } from "../../../../api/organization/organization.ts"
import { Checkbox, TextField } from "../../../../components/controls/field.tsx"
import { FormDialog } from "../../../../components/layers/form-dialog.tsx"
import styles from "./new-user.module.css"

export function NewUser({ onClose }: { onClose: () => void }) {
  const teams = useTeams()
  const [username, setUsername] = useState("")
  const [isAdmin, setAdmin] = useState(false)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const create = useCreateUser()
  const submit = () =>
    create.mutate({ username: username.trim(), is_admin: isAdmin, teams: chosen }, { onSuccess: onClose })
  const choose = (team: string, isIn: boolean) =>
    setChosen(isIn ? [...chosen, team] : chosen.filter((one) => one !== team))
  return (
    <FormDialog
      title="New user"
      width={420}
      action="Make user"
      isReady={username.trim() !== ""}
      isPending={create.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Name"
        autoFocus
        value={username}
        onChange={(event) => setUsername(event.target.value)}
        hint="Also of their own projects. It stays: A-Z a-z 0-9 _ . - and at most 64 characters."
        error={create.error?.message}
      />
      {(teams.data?.data.length ?? 0) > 0 && (
        <fieldset className={styles.teams}>
          <legend className={styles.legend}>Teams</legend>
          {teams.data?.data.map(({ id, name }) => (
            <Checkbox
              key={id}
              label={name}
              checked={chosen.includes(name)}
              onChange={(event) => choose(name, event.target.checked)}
            />
          ))}
        </fieldset>
      )}
      <Checkbox
        label="Administrator: users, teams, keys and quotas of everybody"
        checked={isAdmin}
        onChange={(event) => setAdmin(event.target.checked)}
      />
      <p className={styles.note}>
        Then make a key for them under API keys: with it they sign in, and their programs come in.
      </p>
    </FormDialog>
  )
}
