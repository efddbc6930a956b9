/** The page of an annotator: items of a queue, one after the other or several at once. */
import { getRouteApi } from "@tanstack/react-router"
import { ApiError } from "../../../../api/api-error.ts"
import { useQueue, useQueueWork } from "../../../../api/labelling/annotation-queues.ts"
import { useLabelFields } from "../../../../api/labelling/labelling.ts"
import { LinkButton } from "../../../../components/controls/button.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { type CurrentProject, useProjectOfPage } from "../../../../shell/current-project.ts"
import { QueueGone } from "../queue-gone.tsx"
import styles from "./label-page.module.css"
import { Labelling } from "./labelling.tsx"

const route = getRouteApi("/signed-in/$entity/$project/queues/$id/label")
const workMs = 10_000

export function LabelPage() {
  const project = useProjectOfPage()
  const { id } = route.useParams()
  return <QueueToLabel key={`${project.id}/${id}`} project={project} queueId={id} />
}

function QueueToLabel({ project, queueId }: { project: CurrentProject; queueId: string }) {
  const queue = useQueue(project.id, queueId)
  const work = useQueueWork({ project_id: project.id, queue_ids: [queueId] }, { refetchInterval: workMs })
  const shown = queue.data?.queue
  const { fields, isReading, error: fieldsError } = useLabelFields(shown?.scorer_refs ?? [])
  const params = { ...project.params, id: queueId }
  const error = queue.error ?? work.error ?? fieldsError
  if (queue.error instanceof ApiError && queue.error.isNotFound && shown === undefined) {
    return <QueueGone project={project} queueId={queueId} userId={work.data?.caller.user_id ?? null} />
  }
  if (shown === undefined || work.data === undefined || isReading) {
    return (
      <>
        <PageBar title={shown?.name ?? "Labelling"} />
        {error === null ? (
          <SkeletonRows what="Reading the queue" rows={8} />
        ) : (
          <div className={styles.padded}>
            <ErrorNote what="The queue could not be read." error={error} onRetry={() => void queue.refetch()} />
          </div>
        )}
      </>
    )
  }
  const { caller, queues } = work.data
  if (!caller.may_label) {
    return (
      <>
        <PageBar title={shown.name} />
        <Empty
          title="You may not label in this queue"
          actions={
            <LinkButton to="/$entity/$project/queues/$id" params={params}>
              See how far it is
            </LinkButton>
          }
        >
          Your role in {project.id} lets you read. An administrator of {project.entity} can make you an annotator.
        </Empty>
      </>
    )
  }
  if (fields.length === 0) {
    return (
      <>
        <PageBar title={shown.name} />
        <Empty
          title="This queue asks nothing yet"
          actions={
            <LinkButton to="/$entity/$project/queues/$id" params={params} search={{ dialog: "settings" }}>
              Add a field
            </LinkButton>
          }
        >
          {fieldsError === null ? (
            <>
              A field is what an annotator answers about each item. Whoever may write to the project adds one in the{" "}
              <TextLink to="/$entity/$project/queues/$id" params={params} search={{ dialog: "settings" }}>
                queue settings
              </TextLink>
              .
            </>
          ) : (
            `The fields could not be read: ${fieldsError.message}`
          )}
        </Empty>
      </>
    )
  }
  return (
    <Labelling
      project={project}
      queue={shown}
      caller={caller}
      work={queues[0] ?? null}
      workReadAt={work.dataUpdatedAt}
      fields={fields}
    />
  )
}
