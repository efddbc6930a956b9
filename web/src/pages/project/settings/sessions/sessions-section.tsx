/** Browsers that are signed in: one's own, of an administrator everybody's. */
import type { Session } from "@heddle/server/wire/platform/session.ts"
import { useEndSession, useSession, useSessions } from "../../../../api/session.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { browserName } from "../../../../shell/browser-name.ts"
import { SectionHead } from "../section-head.tsx"
import styles from "./sessions-section.module.css"

const heads = [
  { name: "Browser", className: styles.browser },
  { name: "User", className: styles.user },
  { name: "Signed in", className: styles.time },
  { name: "Last use", className: styles.time },
  { name: "Ends", className: styles.time },
  { name: "Actions", className: styles.action },
]

export function SessionsSection() {
  const { user } = useSession()
  const sessions = useSessions()
  const end = useEndSession()
  return (
    <>
      <SectionHead title="Browsers">
        {user.is_admin
          ? "Every browser that is signed in to this server."
          : "Every browser that you are signed in with."}{" "}
        Each may do what the key may that it signed in with, and ends with that key.
      </SectionHead>
      {end.error && (
        <div className={styles.error}>
          <ErrorNote what="It is still signed in." error={end.error} />
        </div>
      )}
      <Loaded query={sessions} what="sessions">
        {({ data }) => (
          <PlainTable label="Browsers that are signed in" heads={heads}>
            {data.map((session) => (
              <SessionRow
                key={session.id}
                session={session}
                onEnd={() => end.mutate(session.id)}
                isEnding={end.isPending && end.variables === session.id}
              />
            ))}
          </PlainTable>
        )}
      </Loaded>
    </>
  )
}

interface SessionRowProps {
  session: Session
  onEnd: () => void
  isEnding: boolean
}

function SessionRow({ session, onEnd, isEnding }: SessionRowProps) {
  const browser = browserName(session.user_agent)
  return (
    <tr>
      <td className={styles.browser} title={session.user_agent}>
        {browser} {session.is_current && <Tag kind="accent">this browser</Tag>}
      </td>
      <td className={styles.user} title={session.username}>
        {session.username}
      </td>
      <td className={styles.time}>
        <Time at={session.created_at} />
      </td>
      <td className={styles.time}>
        <Time at={session.last_used_at} show="ago" />
      </td>
      <td className={styles.time}>
        <Time at={session.expires_at} />
      </td>
      <td className={styles.action}>
        {!session.is_current && (
          <Button
            size="small"
            kind="quiet"
            aria-label={`Sign out there: ${browser} of ${session.username}`}
            onClick={onEnd}
            disabled={isEnding}
          >
            Sign out there
          </Button>
        )}
      </td>
    </tr>
  )
}
