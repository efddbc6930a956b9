/** All users of the server, for administrators: make one, disable or enable one, remove one who left. */
import type { User } from "@heddle/server/wire/platform/account.ts"
import { Plus } from "lucide-react"
import { useState } from "react"
import { useDisableUser, useUsers } from "../../../../api/organization/organization.ts"
import { useSession } from "../../../../api/session.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Avatar } from "../../../../components/signs/avatar.tsx"
import { Status } from "../../../../components/signs/status.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { SectionHead } from "../section-head.tsx"
import { NewUser } from "./new-user.tsx"
import { RemoveUser } from "./remove-user.tsx"
import styles from "./users.module.css"

const heads = [
  { name: "User", className: styles.user },
  { name: "State", className: styles.state },
  { name: "May open projects of", className: styles.entities },
  { name: "Actions", className: styles.action },
]

export function Users() {
  const users = useUsers({ enabled: true })
  const disable = useDisableUser()
  const [isMaking, setMaking] = useState(false)
  return (
    <>
      <SectionHead
        title="Users"
        actions={
          <Button kind="primary" icon={Plus} onClick={() => setMaking(true)}>
            New user
          </Button>
        }
      >
        While a user is disabled, their keys are refused and their browsers signed out; what they stored stays.
      </SectionHead>
      {disable.error && (
        <div className={styles.error}>
          <ErrorNote what="The user is as before." error={disable.error} />
        </div>
      )}
      <Loaded query={users} what="users">
        {({ data }) => (
          <PlainTable label="Users" heads={heads}>
            {data.map((user) => (
              <UserRow
                key={user.id}
                user={user}
                isChanging={disable.isPending && disable.variables.username === user.username}
                onDisable={(disabled) => disable.mutate({ username: user.username, disabled })}
              />
            ))}
          </PlainTable>
        )}
      </Loaded>
      {isMaking && <NewUser onClose={() => setMaking(false)} />}
    </>
  )
}

interface UserRowProps {
  user: User
  isChanging: boolean
  onDisable: (disabled: boolean) => void
}

function UserRow({ user, isChanging, onDisable }: UserRowProps) {
  const session = useSession()
  const { username, is_admin: isAdmin, entities, disabled } = user
  const isSelf = username === session.user.username
  return (
    <tr>
      <td className={styles.user} title={username}>
        <span className={styles.person}>
          <Avatar name={username} /> {username} {isAdmin && <Tag>administrator</Tag>}
        </span>
      </td>
      <td className={styles.state}>
        <Status of={disabled ? "cancelled" : "ok"}>{disabled ? "disabled" : "enabled"}</Status>
      </td>
      <td className={styles.entities} title={entities.join(", ")}>
        {entities.join(", ")}
      </td>
      <td className={styles.action}>
        {isSelf ? (
          <span className={styles.note}>that is you</span>
        ) : (
          <>
            <Button
              size="small"
              kind="quiet"
              disabled={isChanging}
              aria-label={`${disabled ? "Enable" : "Disable"} ${username}`}
              onClick={() => onDisable(!disabled)}
            >
              {disabled ? "Enable" : "Disable"}
            </Button>
            <RemoveUser user={user} />
          </>
        )}
      </td>
    </tr>
  )
}
