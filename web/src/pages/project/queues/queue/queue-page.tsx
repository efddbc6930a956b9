/** One queue, for whoever leads it: how far it is, who agrees with whom, and the disputes to decide. */
import { getRouteApi } from "@tanstack/react-router"
import { Plus, SlidersHorizontal, Zap } from "lucide-react"
import { ApiError } from "../../../../api/api-error.ts"
import { useQueue, useQueueWork } from "../../../../api/labelling/annotation-queues.ts"
import { useAgreement } from "../../../../api/labelling/disputes.ts"
import { useLabelFields } from "../../../../api/labelling/labelling.ts"
import { Button, LinkButton } from "../../../../components/controls/button.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Pane } from "../../../../components/layout/pane.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { nounOf } from "../../../../format/counted.ts"
import { formatCount } from "../../../../format/numbers.ts"
import { useKeys } from "../../../../keys/use-keys.ts"
import { type CurrentProject, useProjectOfPage } from "../../../../shell/current-project.ts"
import { firstChoice } from "../../train/label-choices.ts"
import { ProgressStack } from "../progress-stack.tsx"
import { QueueGone } from "../queue-gone.tsx"
import { AgreementTable } from "./agreement-table.tsx"
import { AnnotatorsTable } from "./annotators-table.tsx"
import { Disputes } from "./disputes.tsx"
import styles from "./queue-page.module.css"
import { QueueSettings } from "./queue-settings.tsx"

const route = getRouteApi("/signed-in/$entity/$project/queues/$id")
const liveMs = 10_000

export function QueuePage() {
  const project = useProjectOfPage()
  const { id } = route.useParams()
  return <OneQueue key={`${project.id}/${id}`} project={project} queueId={id} />
}

function OneQueue({ project, queueId }: { project: CurrentProject; queueId: string }) {
  const { dialog } = route.useSearch()
  const navigate = route.useNavigate()
  const params = { ...project.params, id: queueId }
  const query = useQueue(project.id, queueId)
  const work = useQueueWork({ project_id: project.id, queue_ids: [queueId] }, { refetchInterval: liveMs })
  const agreement = useAgreement(project.id, queueId, { refetchInterval: liveMs })
  const queue = query.data?.queue
  const { fields, others, error: fieldsError } = useLabelFields(queue?.scorer_refs ?? [])
  const counts = work.data?.queues[0]
  const caller = work.data?.caller
  const setDialog = (next: "settings" | undefined) =>
    void navigate({ search: (before) => ({ ...before, dialog: next }), replace: true })
  const label = () => void navigate({ to: "/$entity/$project/queues/$id/label", params })
  useKeys([{ keys: "l", label: "label", group: "Queue", run: label }])

  const isGone = query.error instanceof ApiError && query.error.isNotFound
  if (isGone || (work.data !== undefined && counts === undefined && query.data !== undefined && !query.isFetching)) {
    return (
      <QueueGone
        project={project}
        queueId={queueId}
        userId={caller?.user_id ?? null}
        {...(queue === undefined ? {} : { name: queue.name })}
      />
    )
  }
  const mayWrite = caller?.may_write ?? false
  const rightWords =
    caller !== undefined && !mayWrite ? "Whoever may write to the project can do this; your role here reads" : undefined
  return (
    <>
      <PageBar
        crumb={
          <TextLink isQuiet to="/$entity/$project/queues" params={params}>
            Labelling
          </TextLink>
        }
        title={queue?.name ?? ""}
        tab={queue?.name ?? "Labelling"}
        aside={
          queue !== undefined && (
            <>
              {(queue.required_annotators ?? 1) > 1 && (
                <>
                  <Tag>{queue.required_annotators} people an item</Tag> <Tag>blind</Tag>
                </>
              )}
            </>
          )
        }
        actions={
          <>
            <span className={styles.wideOnly}>
              <Button
                kind="quiet"
                icon={SlidersHorizontal}
                disabled={!mayWrite}
                title={rightWords}
                onClick={() => setDialog("settings")}
              >
                Queue settings
              </Button>
            </span>
            {mayWrite && (
              <span className={styles.wideOnly}>
                <LinkButton
                  icon={Plus}
                  to="/$entity/$project/queues/new"
                  params={params}
                  search={{ queue: queueId, all: true }}
                >
                  Add items
                </LinkButton>
              </span>
            )}
            <span className={styles.wideOnly}>
              <LinkButton
                icon={Zap}
                to="/$entity/$project/train"
                params={params}
                search={{ from: "queue", queue: queueId, ...firstChoice(fields) }}
              >
                Train on these labels
              </LinkButton>
            </span>
            {caller?.may_label === false ? (
              <Button
                kind="primary"
                disabled
                title="Your role here reads; an administrator of the team can make you an annotator"
              >
                Label
              </Button>
            ) : (
              <LinkButton kind="primary" to="/$entity/$project/queues/$id/label" params={params}>
                Label
              </LinkButton>
            )}
          </>
        }
      />
      <div className={styles.page}>
        <Loaded query={query} what="queue">
          {() => null}
        </Loaded>
        {caller !== undefined && !mayWrite && (
          <p className={styles.right}>
            {caller.may_label
              ? "You may label here. Settings, items and decisions about disputes are for those who may write to the project."
              : "You may read here. An administrator of the team can make you an annotator or a member."}
          </p>
        )}
        {fieldsError !== null && (
          <Loaded query={{ data: undefined, error: fieldsError, refetch: () => undefined }} what="questions">
            {() => null}
          </Loaded>
        )}
        <section className={styles.progress} aria-label="Progress">
          <Loaded query={work} what="counts">
            {() =>
              counts && (
                <>
                  <p className={styles.figures}>
                    <b>{formatCount(counts.items.finished)}</b> of {formatCount(counts.total_items)}{" "}
                    {nounOf(counts.total_items, "item")} finished
                    <span className={styles.note}>
                      {formatCount(counts.annotators.reduce((all, one) => all + one.completed, 0))} labelled,{" "}
                      {formatCount(counts.own.open)} left for you
                    </span>
                  </p>
                  <ProgressStack work={counts} />
                </>
              )
            }
          </Loaded>
          {others.length > 0 && (
            <p className={styles.note}>
              {others.length === 1 ? "One of the queue’s refs asks" : `${others.length} of the queue’s refs ask`}{" "}
              nothing of people, or was deleted: {others.join(", ")}
            </p>
          )}
        </section>
        {counts !== undefined && counts.total_items === 0 ? (
          <Empty
            title="The queue has no items yet"
            actions={
              <LinkButton kind="primary" to="/$entity/$project/traces" params={params}>
                Choose calls in Traces
              </LinkButton>
            }
          >
            Select calls in Traces, or filter them, and press Add to queue.
          </Empty>
        ) : (
          counts !== undefined &&
          caller !== undefined && (
            <>
              <div className={styles.middle}>
                <Pane
                  title="Annotators"
                  isOpenEnded
                  note={peopleWords(
                    counts.annotators.length,
                    counts.annotators.filter(({ holding }) => holding > 0).length,
                  )}
                >
                  <AnnotatorsTable work={counts} agreement={agreement.data ?? null} fields={fields} />
                </Pane>
                <Pane title="Agreement by question" isOpenEnded note="items with two labels or more">
                  <Loaded query={agreement} what="agreement">
                    {(data) => <AgreementTable agreement={data} fields={fields} />}
                  </Loaded>
                </Pane>
              </div>
              <Disputes project={project} queueId={queueId} fields={fields} work={counts} mayDecide={mayWrite} />
            </>
          )
        )}
      </div>
      {dialog === "settings" && queue !== undefined && (
        <QueueSettings project={project} queue={queue} mayWrite={mayWrite} onClose={() => setDialog(undefined)} />
      )}
    </>
  )
}

function peopleWords(count: number, now: number): string {
  return `${formatCount(count)}${now > 0 ? `, ${formatCount(now)} of them now` : ""}`
}
