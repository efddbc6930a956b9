/** Teams with their members: one's own, of an administrator all. */
import type { Team, TeamMember } from "@heddle/server/wire/platform/account.ts"
import { Plus, X } from "lucide-react"
import { useState } from "react"
import { useAddMember, useMembers, useTeams, useUsers } from "../../../../api/organization/organization.ts"
import { useSession } from "../../../../api/session.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { SelectField } from "../../../../components/controls/field.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { SectionHead } from "../section-head.tsx"
import { NewTeam } from "./new-team.tsx"
import { ConfirmTakeOut } from "./confirm-take-out.tsx"
import styles from "./teams.module.css"

export function Teams() {
  const { user } = useSession()
  const teams = useTeams()
  const [isMaking, setMaking] = useState(false)
  return (
    <>
      <SectionHead
        title="Teams"
        actions={
          user.is_admin && (
            <Button icon={Plus} onClick={() => setMaking(true)}>
              New team
            </Button>
          )
        }
      >
        What a member may do says their role; it is changed under Members, in a project of the team.{" "}
        {user.is_admin
          ? "Besides its teams a user has projects under their own name."
          : "Only an administrator of the server lets somebody in here; those of the team invite."}
      </SectionHead>
      <Loaded query={teams} what="teams">
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No teams">
              Projects under your own name are yours alone.{" "}
              {user.is_admin ? "A team shares its projects." : "An administrator lets you into a team."}
            </Empty>
          ) : (
            <ul className={styles.teams} aria-label="Teams">
              {data.map((team) => (
                <TeamLine key={team.id} team={team} mayChange={user.is_admin} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {isMaking && <NewTeam onClose={() => setMaking(false)} />}
    </>
  )
}

function TeamLine({ team: { name }, mayChange }: { team: Team; mayChange: boolean }) {
  const members = useMembers(name)
  return (
    <li className={styles.team} aria-label={name}>
      <h3 className={styles.name}>{name}</h3>
      <div className={styles.members}>
        <Loaded query={members} what="members">
          {({ data }) => (
            <>
              {data.length === 0 && <span className={styles.none}>nobody is in it</span>}
              {data.map((member) => (
                <Member key={member.id} team={name} member={member} mayChange={mayChange} />
              ))}
              {mayChange && <AddMember team={name} members={data} />}
            </>
          )}
        </Loaded>
      </div>
    </li>
  )
}

function Member({ team, member, mayChange }: { team: string; member: TeamMember; mayChange: boolean }) {
  const [isConfirming, setConfirming] = useState(false)
  const { username, role, disabled } = member
  return (
    <span className={styles.member}>
      {username} <span className={styles.none}>{role === "service_account" ? "program" : role}</span>{" "}
      {disabled && <Tag kind="warn">disabled</Tag>}
      {mayChange && (
        <Button
          size="small"
          kind="quiet"
          icon={X}
          aria-label={`Take ${username} out of ${team}`}
          onClick={() => setConfirming(true)}
        />
      )}
      {isConfirming && (
        <ConfirmTakeOut
          team={team}
          username={username}
          isProgram={role === "service_account"}
          onClose={() => setConfirming(false)}
        />
      )}
    </span>
  )
}

function AddMember({ team, members }: { team: string; members: readonly TeamMember[] }) {
  const users = useUsers({ enabled: true })
  const add = useAddMember()
  const inside = new Set(members.map(({ username }) => username))
  const others = (users.data?.data ?? []).filter(({ username, disabled }) => !disabled && !inside.has(username))
  return (
    <>
      {others.length > 0 && (
        <SelectField
          label={`Let somebody into ${team}`}
          isLabelHidden
          value=""
          disabled={add.isPending}
          onChange={({ target }) => add.mutate({ team, username: target.value })}
        >
          <option value="" disabled>
            Let in…
          </option>
          {others.map(({ id, username }) => (
            <option key={id}>{username}</option>
          ))}
        </SelectField>
      )}
      {add.error && <ErrorNote what="Nobody was let in." error={add.error} />}
    </>
  )
}
