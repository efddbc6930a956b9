/** Items about which annotators differ: the list, and what each of them said beside the item itself. */
import type { LabelledItem } from "@heddle/server/wire/labelling/annotation-label.ts"
import { getRouteApi } from "@tanstack/react-router"
import { useLabelledItems } from "../../../../api/labelling/disputes.ts"
import { useCalls } from "../../../../api/calls/calls.ts"
import { payloadPreview } from "../../../../calls/payload-preview.ts"
import { Segmented } from "../../../../components/controls/segmented.tsx"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { Split } from "../../../../components/layout/split.tsx"
import { Avatar } from "../../../../components/signs/avatar.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { formatCount } from "../../../../format/numbers.ts"
import { useKeys } from "../../../../keys/use-keys.ts"
import { type LabelField, wordOf } from "../../../../labelling/label-fields.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import type { QueueWork } from "../label/labelling.tsx"
import { Adjudication } from "./adjudication.tsx"
import styles from "./disputes.module.css"
import { QueueNotes } from "./queue-notes.tsx"

const route = getRouteApi("/signed-in/$entity/$project/queues/$id")
/** More are there when these are decided. */
const mostShown = 200
const liveMs = 15_000

interface DisputesProps {
  project: CurrentProject
  queueId: string
  fields: readonly LabelField[]
  work: QueueWork
  mayDecide: boolean
}

export interface Dispute {
  labelled: LabelledItem
  field: string
}

export function Disputes({ project, queueId, fields, work, mayDecide }: DisputesProps) {
  const { disputes: list, field: only, item: wantedItem, about } = route.useSearch()
  const navigate = route.useNavigate()
  const isDecided = list === "decided"
  const query = useLabelledItems(
    queueId,
    { project_id: project.id, disputed: true, adjudicated: isDecided, limit: mostShown },
    { refetchInterval: liveMs },
  )
  const all = (query.data?.items ?? []).flatMap((labelled): Dispute[] => {
    const decided = new Set(labelled.final_labels.map((label) => label.field))
    return labelled.disputed_fields
      .filter((name) => decided.has(name) === isDecided)
      .map((name) => ({ labelled, field: name }))
  })
  const shown = only === undefined ? all : all.filter(({ field }) => field === only)
  const callIds = [...new Set(shown.map(({ labelled }) => labelled.item.call_id))]
  const calls = useCalls(
    { project_id: project.id, filter: { call_ids: callIds }, columns: ["inputs", "output"] },
    { enabled: callIds.length > 0 },
  )
  const previews = new Map((calls.data ?? []).map((call) => [call.id, payloadPreview(call.inputs)]))
  const place = Math.max(
    0,
    shown.findIndex(
      ({ labelled, field }) => labelled.item.id === wantedItem && (about === undefined || field === about),
    ),
  )
  const current = shown[place]
  const open = (index: number) => {
    const next = shown[Math.min(shown.length - 1, Math.max(0, index))]
    if (next === undefined) return
    void navigate({
      search: (before) => ({ ...before, item: next.labelled.item.id, about: next.field }),
      replace: true,
    })
  }
  useKeys([
    { keys: "j", label: "next dispute", group: "Queue", run: () => open(place + 1), mayRepeat: () => true },
    { keys: "k", label: "previous dispute", group: "Queue", run: () => open(place - 1), mayRepeat: () => true },
  ])
  const names = new Map(work.annotators.map((one) => [one.annotator_user_id, one.username ?? "somebody"]))
  const nameOf = (userId: string) => names.get(userId) ?? "somebody"
  const counts = new Map<string, number>()
  for (const { field } of all) counts.set(field, (counts.get(field) ?? 0) + 1)
  // A question that was chosen stays among them when it has no more disputes, so that another can be chosen.
  if (only !== undefined && !counts.has(only)) counts.set(only, 0)
  const rows = (
    <section className={styles.list} aria-label="Disputes">
      <PaneHead
        title="Disputes"
        note={
          query.data !== undefined &&
          `${formatCount(all.length)}${query.data.next_after === null ? "" : " or more"} ${isDecided ? "decided" : "to decide"}`
        }
        tools={
          <Segmented
            label="Which disputes"
            size="small"
            value={isDecided ? "decided" : "open"}
            segments={[
              { value: "open", label: "To decide" },
              { value: "decided", label: "Decided" },
            ]}
            onChange={(value) =>
              void navigate({
                search: (before) => ({
                  ...before,
                  disputes: value === "decided" ? "decided" : undefined,
                  item: undefined,
                  about: undefined,
                }),
                replace: true,
              })
            }
          />
        }
      />
      {(counts.size > 1 || only !== undefined) && (
        <div className={styles.fields}>
          <Segmented
            label="Question"
            size="small"
            value={only ?? ""}
            segments={[
              { value: "", label: `All ${all.length}` },
              ...[...counts].map(([name, count]) => ({ value: name, label: `${name} ${count}` })),
            ]}
            onChange={(value) =>
              void navigate({
                search: (before) => ({ ...before, field: value === "" ? undefined : value }),
                replace: true,
              })
            }
          />
        </div>
      )}
      <Loaded query={query} what="disputes">
        {() =>
          shown.length === 0 ? (
            <p className={styles.none}>
              {all.length > 0
                ? `Nothing of the question ${only} here.`
                : isDecided
                  ? "Nothing is decided yet."
                  : work.annotators.length < 2
                    ? "Disputes show here once two people have labelled the same item differently."
                    : "Nothing to decide: nobody disagrees, or all of it is decided."}
            </p>
          ) : (
            <ul className={styles.rows}>
              {shown.map(({ labelled, field }, index) => (
                <li key={`${labelled.item.id} ${field}`}>
                  <button
                    type="button"
                    className={styles.row}
                    aria-current={index === place ? "true" : undefined}
                    onClick={() => open(index)}
                  >
                    <span className={styles.field}>{field}</span>
                    <span className={styles.text}>{previews.get(labelled.item.call_id) ?? "…"}</span>
                    <span className={styles.labels}>
                      {labelled.labels
                        .filter((label) => label.field === field)
                        .map((label) => (
                          <span key={label.feedback_id} className={styles.label}>
                            <Avatar name={nameOf(label.annotator_user_id)} />
                            {wordOf(label.value)}
                          </span>
                        ))}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <QueueNotes project={project} queueId={queueId} nameOf={nameOf} />
    </section>
  )
  return (
    <div className={styles.disputes}>
      <Split
        label="Width of the disputes"
        name="disputes"
        first={rows}
        second={
          current === undefined ? (
            <p className={styles.none}>
              What people said of an item stands here side by side when a dispute is chosen.
            </p>
          ) : (
            <Adjudication
              key={`${current.labelled.item.id} ${current.field}`}
              project={project}
              queueId={queueId}
              dispute={current}
              place={place + 1}
              count={shown.length}
              field={fields.find(({ name }) => name === current.field) ?? null}
              nameOf={nameOf}
              mayDecide={mayDecide}
            />
          )
        }
      />
    </div>
  )
}
