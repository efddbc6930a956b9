/** The queues of a project: how far each is, who works on it, and what waits for whoever looks. */
import type { AnnotationQueue } from "@heddle/server/wire/labelling/annotation-queue.ts"
import { Plus } from "lucide-react"
import { useQueues, useQueueWork } from "../../../api/labelling/annotation-queues.ts"
import { LinkButton } from "../../../components/controls/button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { PlainTable } from "../../../components/layout/plain-table.tsx"
import { Avatar } from "../../../components/signs/avatar.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { counted } from "../../../format/counted.ts"
import { formatCount } from "../../../format/numbers.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import type { QueueWork } from "./label/labelling.tsx"
import { ProgressStack } from "./progress-stack.tsx"
import styles from "./queues-page.module.css"

const mostQueues = 200
const liveMs = 10_000
const mostPeople = 5

const heads = [
  { name: "Queue", className: styles.name },
  { name: "Progress", className: styles.progress },
  { name: "Finished", className: styles.count },
  { name: "For you", className: styles.count },
  { name: "People", className: styles.people },
  { name: "Made", className: styles.time },
  { name: "Label", className: styles.action },
]

export function QueuesPage() {
  const project = useProjectOfPage()
  const { params } = project
  const queues = useQueues({ project_id: project.id, limit: mostQueues }, { refetchInterval: liveMs })
  const ids = (queues.data ?? []).map(({ id }) => id)
  const work = useQueueWork({ project_id: project.id, queue_ids: ids }, { refetchInterval: liveMs })
  const mayWrite = work.data?.caller.may_write ?? false
  const mayLabel = work.data?.caller.may_label ?? false
  return (
    <>
      <PageBar
        title="Labelling"
        aside={queues.data !== undefined && ids.length > 0 && counted(ids.length, "queue")}
        actions={
          mayWrite ? (
            <LinkButton kind="primary" icon={Plus} to="/$entity/$project/queues/new" params={params}>
              New queue
            </LinkButton>
          ) : (
            work.data !== undefined && <span className={styles.note}>Your role here does not make queues.</span>
          )
        }
      />
      <div className={styles.list}>
        <Loaded query={queues} what="queues">
          {(all) =>
            all.length === 0 ? (
              <Empty
                title="No queues yet"
                actions={
                  <>
                    <LinkButton to="/$entity/$project/traces" params={params}>
                      Choose calls in Traces
                    </LinkButton>
                    {mayWrite && (
                      <LinkButton kind="primary" to="/$entity/$project/queues/new" params={params}>
                        New queue
                      </LinkButton>
                    )}
                  </>
                }
              >
                A queue holds calls that people look at, and asks the same questions about each. Select calls in Traces
                and press Add to queue.
              </Empty>
            ) : (
              <PlainTable label="Queues" heads={heads}>
                {all.map((queue) => (
                  <QueueRow
                    key={queue.id}
                    project={project}
                    queue={queue}
                    work={work.data?.queues.find(({ queue_id }) => queue_id === queue.id)}
                    mayLabel={mayLabel}
                  />
                ))}
              </PlainTable>
            )
          }
        </Loaded>
        {work.error !== null && queues.error === null && (
          <Loaded query={work} what="counts">
            {() => null}
          </Loaded>
        )}
      </div>
    </>
  )
}

interface QueueRowProps {
  project: CurrentProject
  queue: AnnotationQueue
  /** undefined: not known yet. */
  work: QueueWork | undefined
  mayLabel: boolean
}

function QueueRow({ project, queue, work, mayLabel }: QueueRowProps) {
  const params = { ...project.params, id: queue.id }
  const isNoneLeft = work !== undefined && work.own.open === 0
  return (
    <tr className={styles.row}>
      <td className={styles.name}>
        <TextLink isQuiet to="/$entity/$project/queues/$id" params={params}>
          {queue.name === "" ? "(no name)" : queue.name}
        </TextLink>
        {queue.required_annotators !== undefined && queue.required_annotators > 1 && (
          <span className={styles.note}> {queue.required_annotators} people an item</span>
        )}
      </td>
      <td className={styles.progress}>{work && <ProgressStack work={work} isSmall />}</td>
      <td className={styles.count}>
        {work && (
          <>
            {formatCount(work.items.finished)} <span className={styles.note}>of {formatCount(work.total_items)}</span>
          </>
        )}
      </td>
      <td className={styles.count}>{work && formatCount(work.own.open)}</td>
      <td className={styles.people}>
        {work?.annotators.slice(0, mostPeople).map(({ annotator_user_id, username }) => (
          <Avatar key={annotator_user_id} name={username ?? "?"} />
        ))}
        {work !== undefined && work.annotators.length > mostPeople && (
          <span className={styles.note}> +{work.annotators.length - mostPeople}</span>
        )}
      </td>
      <td className={styles.time}>
        <Time at={queue.created_at} />
      </td>
      <td className={styles.action}>
        {mayLabel ? (
          <LinkButton
            size="small"
            kind={isNoneLeft ? "quiet" : "default"}
            to="/$entity/$project/queues/$id/label"
            params={params}
            aria-label={`Label ${queue.name}`}
          >
            Label
          </LinkButton>
        ) : (
          work !== undefined && (
            <span className={styles.note} title="An administrator of the team can make you an annotator">
              read only
            </span>
          )
        )}
      </td>
    </tr>
  )
}
