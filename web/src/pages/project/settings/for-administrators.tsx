/** A part for administrators only: it tells others so, and whom to ask. */
import { Lock } from "lucide-react"
import type { ReactNode } from "react"
import { useSession } from "../../../api/session.ts"
import { Note } from "../../../components/states/note.tsx"
import styles from "./for-administrators.module.css"

/** `what` is a sentence's subject: "The record of changes". */
export function ForAdministrators({ what, children }: { what: string; children: () => ReactNode }) {
  const { user } = useSession()
  if (user.is_admin) return children()
  return (
    <div className={styles.note}>
      <Note icon={Lock} title={`${what} is for administrators.`}>
        You are signed in as {user.username}, a member of {user.entities.join(", ")}. Ask an administrator of this
        server.
      </Note>
    </div>
  )
}
