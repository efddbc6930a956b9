/** Who is signed in here, where else, and the way out. */
import type { Session } from "@heddle/server/wire/platform/session.ts"
import { LogOut } from "lucide-react"
import { useEndSession, useSession, useSessions, useSignOut } from "../api/session.ts"
import { addressOf } from "../base-path.ts"
import { Button } from "../components/controls/button.tsx"
import { Dialog } from "../components/layers/dialog.tsx"
import { Tag } from "../components/signs/tag.tsx"
import { Time } from "../components/signs/time.tsx"
import { ErrorNote } from "../components/states/error-note.tsx"
import { Loaded } from "../components/states/loaded.tsx"
import { browserName } from "./browser-name.ts"
import styles from "./account.module.css"

export function Account({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { user } = useSession()
  const sessions = useSessions()
  const signOut = useSignOut()
  const leave = () => signOut.mutate(undefined, { onSuccess: () => location.assign(addressOf("/login")) })
  return (
    <Dialog title={user.username} isOpen={isOpen} onClose={onClose}>
      <div className={styles.body}>
        <p className={styles.teams}>
          {user.is_admin ? "Administrator" : "Member"} of {user.entities.join(", ")}
        </p>
        <h3 className={styles.title}>Signed in</h3>
        <Loaded query={sessions} what="sessions">
          {({ data }) => (
            <ul>
              {data
                .filter(({ username }) => username === user.username)
                .map((session) => (
                  <SessionLine key={session.id} session={session} />
                ))}
            </ul>
          )}
        </Loaded>
        {signOut.error && <ErrorNote what="You are still signed in." error={signOut.error} />}
        <div className={styles.actions}>
          <Button icon={LogOut} onClick={leave} disabled={signOut.isPending}>
            Sign out
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

function SessionLine({ session }: { session: Session }) {
  const end = useEndSession()
  return (
    <li className={styles.session}>
      <span className={styles.browser} title={session.user_agent}>
        {browserName(session.user_agent)} {session.is_current && <Tag kind="accent">this browser</Tag>}
        <span className={styles.times}>
          since <Time at={session.created_at} />, used <Time at={session.last_used_at} show="ago" />
        </span>
      </span>
      {!session.is_current && (
        <Button size="small" kind="danger" onClick={() => end.mutate(session.id)} disabled={end.isPending}>
          Sign out there
        </Button>
      )}
      {end.error && <ErrorNote what="It is still signed in." error={end.error} />}
    </li>
  )
}
