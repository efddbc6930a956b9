/** Annotators' notes beside labels, and reasons for skipping: hints at what the instructions lack. */
import { useQueueNotes } from "../../../../api/labelling/labelling.ts"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { Avatar } from "../../../../components/signs/avatar.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { formatCount } from "../../../../format/numbers.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import styles from "./queue-notes.module.css"

interface QueueNotesProps {
  project: CurrentProject
  queueId: string
  nameOf: (userId: string) => string
}

const mostShown = 50

export function QueueNotes({ project, queueId, nameOf }: QueueNotesProps) {
  const query = useQueueNotes(project.id, queueId, mostShown)
  const notes = query.data?.result ?? []
  if (query.error !== null)
    return <ErrorNote what="The notes could not be read." error={query.error} onRetry={() => void query.refetch()} />
  if (notes.length === 0) return null
  return (
    <section aria-label="Notes of annotators">
      <PaneHead title="Notes of annotators" note={formatCount(query.data?.total_count ?? 0)} />
      <ul>
        {notes.map(({ id, note, userId, callId, at }) => (
          <li key={id} className={styles.note}>
            <Avatar name={nameOf(userId)} />
            <span className={styles.words} title={note}>
              {note}
            </span>
            <span className={styles.time}>
              <Time at={at} />
            </span>
            <TextLink to="/$entity/$project/r/call/$call" params={{ ...project.params, call: callId }}>
              call
            </TextLink>
          </li>
        ))}
      </ul>
    </section>
  )
}
