/** One annotator at work: the session with the server, the head of the page, and the view of one item or of several. */
import type { AnnotationQueue } from "@heddle/server/wire/labelling/annotation-queue.ts"
import type { QueueWorkAnswer } from "@heddle/server/wire/labelling/annotation-work.ts"
import { getRouteApi } from "@tanstack/react-router"
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react"
import { labelRequests } from "../../../../api/labelling/labelling.ts"
import { Empty } from "../../../../components/states/empty.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import type { LabelField } from "../../../../labelling/label-fields.ts"
import { browserMemory } from "../../../../labelling/label-memory.ts"
import { LabelSession, type LabelState } from "../../../../labelling/label-session.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { useIsLeaving } from "../../../../url/use-is-leaving.ts"
import { QueueGone } from "../queue-gone.tsx"
import { BulkView } from "./bulk-view.tsx"
import { FocusView } from "./focus-view.tsx"
import { LabelBar } from "./label-bar.tsx"
import { LabelFoot } from "./label-foot.tsx"
import styles from "./labelling.module.css"
import { NothingLeft } from "./nothing-left.tsx"
import { UnsentNotes } from "./unsent-notes.tsx"

const route = getRouteApi("/signed-in/$entity/$project/queues/$id/label")

/** Read before they are asked for. */
const itemsAhead = 3
const bulkAhead = 23
/** An address is changed when the keys have come to rest: a browser takes few new ones a second. */
const restMs = 500
const defaultLease = 900

export type QueueWork = QueueWorkAnswer["queues"][number]

interface LabellingProps {
  project: CurrentProject
  queue: AnnotationQueue
  caller: QueueWorkAnswer["caller"]
  /** null: the queue was deleted since. */
  work: QueueWork | null
  /** When it was read, in this browser's milliseconds. */
  workReadAt: number
  fields: readonly LabelField[]
}

/** Shared by every part of the page. */
export interface Work {
  project: CurrentProject
  queue: AnnotationQueue
  fields: readonly LabelField[]
  session: LabelSession
  state: LabelState
  counts: QueueWork | null
  /** Items that the annotator has finished and the counts do not have yet. */
  uncounted: number
  userId: string
  isBlind: boolean
  nameOf: (userId: string) => string
}

export function Labelling({ project, queue, caller, work, workReadAt, fields }: LabellingProps) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const isLeaving = useIsLeaving()
  const isBulk = search.view === "bulk"
  const leaseSeconds = queue.lease_seconds ?? defaultLease
  const [session] = useState(
    () =>
      new LabelSession({
        queueId: queue.id,
        leaseSeconds,
        ahead: isBulk ? bulkAhead : itemsAhead,
        memory: browserMemory(localStorage, caller.user_id, queue.id),
        requests: labelRequests(project.id, queue.id),
      }),
  )
  const state = useSyncExternalStore(session.subscribe, session.current)
  const firstItem = useEffectEvent(() => (search.item === undefined || search.item === "" ? null : search.item))
  // The server's leases, for as long as the page is open.
  useEffect(() => {
    session.open(firstItem())
    return () => session.close()
  }, [session])
  useEffect(() => session.setAhead(isBulk ? bulkAhead : itemsAhead), [session, isBulk])
  // Whatever somebody does prolongs what is in hand.
  useEffect(() => {
    const touch = () => session.touch()
    const retry = () => session.retry()
    document.addEventListener("keydown", touch)
    document.addEventListener("pointerdown", touch)
    window.addEventListener("online", retry)
    return () => {
      document.removeEventListener("keydown", touch)
      document.removeEventListener("pointerdown", touch)
      window.removeEventListener("online", retry)
    }
  }, [session])

  const inHand = state.held[0]?.id
  const [field, setField] = useState(search.field)
  const tell = useEffectEvent((item: string | undefined, question: string | undefined) => {
    if (isLeaving() || (item === search.item && question === search.field)) return
    void navigate({ search: (before) => ({ ...before, item, field: question }), replace: true })
  })
  // The address.
  useEffect(() => {
    const timer = setTimeout(() => tell(inHand, field), restMs)
    return () => clearTimeout(timer)
  }, [inHand, field])

  const names = new Map(work?.annotators.map((one) => [one.annotator_user_id, one.username ?? "somebody"]))
  const isBlind = search.blind === undefined ? (queue.required_annotators ?? 1) > 1 : search.blind === "on"
  const shared: Work = {
    project,
    queue,
    fields,
    session,
    state,
    counts: work,
    uncounted: uncountedItems(state, workReadAt),
    userId: caller.user_id,
    isBlind,
    nameOf: (userId) => names.get(userId) ?? "somebody",
  }
  if (state.phase === "gone") {
    return (
      <QueueGone project={project} queueId={queue.id} name={queue.name} userId={caller.user_id} error={state.error} />
    )
  }
  return (
    <div className={styles.page}>
      <LabelBar
        {...shared}
        isBulk={isBulk}
        onView={(view) => void navigate({ search: (before) => ({ ...before, view }), replace: true })}
        onBlind={(blind) => void navigate({ search: (before) => ({ ...before, blind }), replace: true })}
      />
      <UnsentNotes {...shared} />
      {state.phase === "refused" ? (
        <Empty title="You may not label in this queue any more">
          {state.error?.message} What you chose is kept on this device.
        </Empty>
      ) : state.phase === "empty" ? (
        <NothingLeft {...shared} />
      ) : state.held.length === 0 ? (
        <SkeletonRows what="Taking the next item" rows={8} />
      ) : isBulk ? (
        <BulkView {...shared} field={field} onField={setField} />
      ) : (
        <FocusView {...shared} field={field} onField={setField} />
      )}
      {(state.phase === "empty" || (state.phase === "asking" && state.done.length > 0)) && <LabelFoot {...shared} />}
    </div>
  )
}

/** Those that are to be sent, and those that were sent since the counts were read. */
function uncountedItems({ waiting, done }: LabelState, readAt: number): number {
  const unsent = new Set(waiting.filter(({ refusal }) => refusal === null).map(({ item }) => item.id))
  const sent = done.filter(({ item, at }) => at > readAt && !unsent.has(item.id))
  return unsent.size + sent.length
}
