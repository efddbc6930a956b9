/** A queue that is not there, or is not any more: what is kept, and where to go. */
import { LinkButton } from "../../../components/controls/button.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { browserMemory } from "../../../labelling/label-memory.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"

interface QueueGoneProps {
  project: CurrentProject
  queueId: string
  name?: string
  /** null: not known. */
  userId: string | null
  error?: Error | null
}

export function QueueGone({ project, queueId, name, userId, error = null }: QueueGoneProps) {
  const memory = userId === null ? null : browserMemory(localStorage, userId, queueId)
  const kept = memory === null ? [] : [...memory.drafts()]
  return (
    <>
      <PageBar title={name ?? "Labelling"} />
      <Empty
        title={name === undefined ? "There is no such queue" : "The queue was deleted while it was open"}
        actions={
          <>
            <LinkButton kind="primary" to="/$entity/$project/queues" params={project.params}>
              Other queues
            </LinkButton>
            {kept.length > 0 && (
              <CopyButton
                isWordy
                words={`Copy what you had not sent (${kept.length})`}
                text={JSON.stringify(Object.fromEntries(kept), null, 2)}
                label="Copy what you had not sent"
              />
            )}
          </>
        }
      >
        Labels that were sent before are kept as feedback on their calls.
        {kept.length > 0 && " What you had not sent is kept on this device, too."}
      </Empty>
      {error !== null && (
        <div style={{ padding: "0 16px" }}>
          <ErrorNote what="The server does not know the queue any more." error={error} />
        </div>
      )}
    </>
  )
}
