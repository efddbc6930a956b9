/** Who belongs to the team of this project, what each may do, and who is invited. */
import type { MemberRole } from "@heddle/server/wire/platform/access.ts"
import type { TeamMember } from "@heddle/server/wire/platform/account.ts"
import type { ProjectRole } from "@heddle/server/wire/platform/project-role.ts"
import { Bot, Check, UserPlus } from "lucide-react"
import { useState } from "react"
import {
  useChangeProjectRole,
  useChangeRole,
  useMembers,
  useProjectRoles,
} from "../../../../api/organization/organization.ts"
import { useSession } from "../../../../api/session.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { SelectField } from "../../../../components/controls/field.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Avatar } from "../../../../components/signs/avatar.tsx"
import { Icon } from "../../../../components/signs/icon.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { type CurrentProject, useProjectOfPage } from "../../../../shell/current-project.ts"
import { SectionHead } from "../section-head.tsx"
import { Invitations } from "./invitations.tsx"
import { Invite } from "./invite.tsx"
import { ConfirmTakeOut } from "../people/confirm-take-out.tsx"
import styles from "./members-section.module.css"
import { NewProgram } from "./new-program.tsx"
import { memberRoles, rights, roleWords } from "./role-words.ts"

export function MembersSection() {
  const project = useProjectOfPage()
  const { user } = useSession()
  const { entity } = project
  const members = useMembers(entity)
  const roles = useProjectRoles(project)
  const [dialog, setDialog] = useState<"invite" | "program" | null>(null)
  const changeRole = useChangeRole()
  const changeOwn = useChangeProjectRole()
  const own = members.data?.data.find(({ username }) => username === user.username)
  const mayManage = user.is_admin || own?.role === "admin"
  const failure = changeRole.error ?? changeOwn.error
  // A project that nothing made yet has no roles of its own.
  const inProject = roles.error === null ? roles.data?.data : undefined
  return (
    <>
      <SectionHead
        title="Members"
        actions={
          mayManage && (
            <>
              <Button icon={Bot} onClick={() => setDialog("program")}>
                New program
              </Button>
              <Button kind="primary" icon={UserPlus} onClick={() => setDialog("invite")}>
                Invite
              </Button>
            </>
          )
        }
      >
        Who belongs to {entity}, and what each may do in its projects. In {project.project} somebody may be more or less
        than in the team. {!mayManage && "Its administrators decide about that."}
      </SectionHead>
      {failure !== null && (
        <div className={styles.block}>
          <ErrorNote what="The role is as before." error={failure} />
        </div>
      )}
      <Loaded query={members} what="members">
        {({ data }) => (
          <PlainTable
            label="Members"
            heads={[
              { name: "Person", className: styles.person },
              { name: "Role in the team", className: styles.role },
              ...(inProject === undefined ? [] : [{ name: `In ${project.project}`, className: styles.role }]),
              { name: "May", className: styles.may },
              { name: "Actions", className: styles.action },
            ]}
          >
            {data.map((member) => (
              <MemberRow
                key={member.id}
                project={project}
                member={member}
                inProject={inProject?.find(({ username }) => username === member.username)}
                hasProject={inProject !== undefined}
                mayManage={mayManage}
                isChanging={changeRole.isPending || changeOwn.isPending}
                onRole={(role) => changeRole.mutate({ team: entity, username: member.username, role })}
                onProjectRole={(role) =>
                  changeOwn.mutate({ entity, project: project.project, username: member.username, role })
                }
              />
            ))}
          </PlainTable>
        )}
      </Loaded>
      {mayManage && <Invitations team={entity} />}
      <SectionHead isSmall title="What the roles may do">
        A program (service account) may what a member may. A key can do less than its owner, never more.
      </SectionHead>
      <PlainTable
        label="Rights of the roles"
        heads={[
          { name: "Right" },
          ...memberRoles.toReversed().map((role) => ({ name: role, className: styles.right })),
        ]}
      >
        {rights.map(({ right, roles: having }) => (
          <tr key={right}>
            <td className={styles.what}>{right}</td>
            {memberRoles.toReversed().map((role) => (
              <td key={role} className={styles.right}>
                {having.includes(role) ? (
                  <Icon of={Check} size={14} name="yes" />
                ) : (
                  <span className={styles.no}>no</span>
                )}
              </td>
            ))}
          </tr>
        ))}
      </PlainTable>
      {dialog === "invite" && <Invite team={entity} onClose={() => setDialog(null)} />}
      {dialog === "program" && <NewProgram team={entity} onClose={() => setDialog(null)} />}
    </>
  )
}

interface MemberRowProps {
  project: CurrentProject
  member: TeamMember
  inProject: ProjectRole | undefined
  hasProject: boolean
  mayManage: boolean
  isChanging: boolean
  onRole: (role: MemberRole) => void
  /** null: as in the team. */
  onProjectRole: (role: MemberRole | null) => void
}

function MemberRow({ project, member, inProject, hasProject, mayManage, isChanging, ...on }: MemberRowProps) {
  const { user } = useSession()
  const { username, role, disabled } = member
  const isPerson = role !== "service_account"
  const isOwnEntity = username === project.entity
  const counts = inProject?.role ?? role
  // It may be the same as in the team, and stays when that one changes.
  const isOfProject = inProject?.is_own ?? false
  return (
    <tr>
      <td className={styles.person} title={username}>
        <span className={styles.name}>
          {isPerson ? <Avatar name={username} /> : <Icon of={Bot} size={14} />} {username}{" "}
          {username === user.username && <span className={styles.no}>you</span>}
          {disabled && <Tag kind="warn">disabled</Tag>}
        </span>
      </td>
      <td className={styles.role}>
        {mayManage && isPerson && !isOwnEntity ? (
          <SelectField
            label={`Role of ${username} in ${project.entity}`}
            isLabelHidden
            value={role}
            disabled={isChanging}
            onChange={({ target }) => on.onRole(target.value as MemberRole)}
          >
            {memberRoles.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </SelectField>
        ) : (
          <span>{isPerson ? role : "program"}</span>
        )}
      </td>
      {hasProject && (
        <td className={styles.role}>
          {mayManage && isPerson && !isOwnEntity ? (
            <SelectField
              label={`Role of ${username} in ${project.project}`}
              isLabelHidden
              value={isOfProject ? counts : ""}
              disabled={isChanging}
              onChange={({ target }) => on.onProjectRole(target.value === "" ? null : (target.value as MemberRole))}
            >
              <option value="">as in team</option>
              {memberRoles.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </SelectField>
          ) : (
            <span className={styles.no}>{isOfProject ? counts : "as in the team"}</span>
          )}
        </td>
      )}
      <td className={styles.may} title={roleWords[counts]}>
        {roleWords[counts]}
      </td>
      <td className={styles.action}>
        {mayManage && !isOwnEntity && <TakeOut team={project.entity} username={username} isProgram={!isPerson} />}
      </td>
    </tr>
  )
}

function TakeOut(member: { team: string; username: string; isProgram: boolean }) {
  const [isConfirming, setConfirming] = useState(false)
  return (
    <>
      <Button size="small" kind="quiet" aria-label={`Take out ${member.username}`} onClick={() => setConfirming(true)}>
        Take out…
      </Button>
      {isConfirming && <ConfirmTakeOut {...member} onClose={() => setConfirming(false)} />}
    </>
  )
}
