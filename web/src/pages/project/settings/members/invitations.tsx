/** Invitations that nobody has taken yet: who made them, for which role, until when. */
import { useEndInvitation, useInvitations } from "../../../../api/organization/organization.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { SectionHead } from "../section-head.tsx"
import styles from "./members-section.module.css"

export function Invitations({ team }: { team: string }) {
  const invitations = useInvitations(team, { enabled: true })
  const end = useEndInvitation()
  if (invitations.data?.data.length === 0) return null
  return (
    <>
      <SectionHead isSmall title="Invited">
        Each link lets one person in, once. Whoever has it makes a user, or joins with theirs.
      </SectionHead>
      {end.error !== null && (
        <div className={styles.block}>
          <ErrorNote what="The invitation is still open." error={end.error} />
        </div>
      )}
      <Loaded query={invitations} what="invitations">
        {({ data }) => (
          <PlainTable
            label="Invitations"
            heads={[
              { name: "For the role", className: styles.role },
              { name: "By", className: styles.may },
              { name: "Ends", className: styles.role },
              { name: "Actions", className: styles.action },
            ]}
          >
            {data.map(({ id, role, invited_by: by, created_at: made, expires_at: ends }) => (
              <tr key={id}>
                <td className={styles.role}>{role}</td>
                <td className={styles.may}>
                  {by}, <Time at={made} show="ago" />
                </td>
                <td className={styles.role}>
                  <Time at={ends} show="ago" />
                </td>
                <td className={styles.action}>
                  <Button
                    size="small"
                    kind="quiet"
                    disabled={end.isPending}
                    aria-label={`End the invitation of ${by} for the role ${role}`}
                    onClick={() => end.mutate({ team, id })}
                  >
                    End
                  </Button>
                </td>
              </tr>
            ))}
          </PlainTable>
        )}
      </Loaded>
    </>
  )
}
