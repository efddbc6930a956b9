/** Work that waits for a person: items to label, and jobs that failed lately, with their reason. */
import { Highlighter } from "lucide-react"
import type { ReactNode } from "react"
import { useQueues, useQueueStats } from "../../../api/labelling/annotation-queues.ts"
import { useTrainingJobs } from "../../../api/training/training.ts"
import { useNow } from "../../../clock/use-now.ts"
import { LinkButton } from "../../../components/controls/button.tsx"
import { PaneHead } from "../../../components/layout/pane.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { StatusIcon } from "../../../components/signs/status.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { counted } from "../../../format/counted.ts"
import { formatCount } from "../../../format/numbers.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { slow } from "./live.ts"
import styles from "./waiting.module.css"

const mostQueues = 100
const mostShown = 6
const lately = 3 * 24 * 3600 * 1000

export function Waiting({ project }: { project: CurrentProject }) {
  const { id } = project
  const now = useNow(60)
  const queues = useQueues({ project_id: id, limit: mostQueues }, slow)
  const queueIds = (queues.data ?? []).map((queue) => queue.id)
  const stats = useQueueStats({ project_id: id, queue_ids: queueIds }, { ...slow, enabled: queueIds.length > 0 })
  const failed = useTrainingJobs({ ...project.params, status: ["failed"], limit: mostShown }, slow)

  const open = (queues.data ?? []).flatMap((queue) => {
    const counts = stats.data?.stats.find((one) => one.queue_id === queue.id)
    const left = counts === undefined ? 0 : counts.total_items - counts.completed_items
    return left > 0 && counts !== undefined ? [{ queue, left, total: counts.total_items }] : []
  })
  const recent = (failed.data?.data ?? []).filter(({ ended_at }) => Date.parse(ended_at ?? "") > now - lately)
  const count = open.length + recent.length
  // That nothing waits is known when all of it is read.
  const unread = [queues, failed, ...(queueIds.length > 0 ? [stats] : [])].find(({ data }) => data === undefined)

  return (
    <section aria-label="Waiting for you">
      <PaneHead title="Waiting for you" note={count === 0 ? undefined : count} />
      <Loaded<unknown> query={count === 0 ? (unread ?? queues) : queues} what="queues and jobs">
        {() =>
          count === 0 ? (
            <p className={styles.none}>Nothing waits. Open items of labelling queues and failed jobs stand here.</p>
          ) : (
            <ul>
              {open.slice(0, mostShown).map(({ queue, left, total }) => (
                <Line
                  key={queue.id}
                  icon={<Icon of={Highlighter} size={14} />}
                  title={`${counted(left, "item")} of ${queue.name}`}
                  note={`${formatCount(total - left)} of ${formatCount(total)} labelled`}
                  action={
                    <LinkButton
                      size="small"
                      to="/$entity/$project/queues/$id/label"
                      params={{ ...project.params, id: queue.id }}
                    >
                      Start
                    </LinkButton>
                  }
                />
              ))}
              {recent.map((job) => (
                <Line
                  key={job.id}
                  icon={<StatusIcon of="failed" name="failed" />}
                  title={`A job of ${job.model} failed`}
                  note={job.error_message ?? "it gave no reason"}
                  action={
                    <LinkButton size="small" to="/$entity/$project/jobs/$id" params={{ ...project.params, id: job.id }}>
                      Look
                    </LinkButton>
                  }
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

function Line({ icon, title, note, action }: { icon: ReactNode; title: string; note: string; action: ReactNode }) {
  return (
    <li className={styles.line}>
      {icon}
      <div className={styles.words}>
        <span className={styles.title}>{title}</span>
        <span className={styles.note} title={note}>
          {note}
        </span>
      </div>
      {action}
    </li>
  )
}
