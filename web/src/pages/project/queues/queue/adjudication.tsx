/** One dispute: the item, what each annotator said of it, and the decision. */
import { Route } from "lucide-react"
import { useState } from "react"
import { useDecide } from "../../../../api/labelling/disputes.ts"
import { useItemCalls } from "../../../../api/labelling/labelling.ts"
import { Button, LinkButton } from "../../../../components/controls/button.tsx"
import { TextField } from "../../../../components/controls/field.tsx"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { Avatar } from "../../../../components/signs/avatar.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import { useKeys } from "../../../../keys/use-keys.ts"
import { answerOf, emptyDraft, isChosen, withAnswer, withChoice } from "../../../../labelling/label-draft.ts"
import { isSame, type LabelField, wordOf } from "../../../../labelling/label-fields.ts"
import { givenLabels } from "../../../../labelling/suggestions.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { ItemContent } from "../item-content.tsx"
import styles from "./adjudication.module.css"
import type { Dispute } from "./disputes.tsx"

interface AdjudicationProps {
  project: CurrentProject
  queueId: string
  dispute: Dispute
  place: number
  count: number
  /** null: the queue asks it no more. */
  field: LabelField | null
  nameOf: (userId: string) => string
  mayDecide: boolean
}

export function Adjudication({ project, queueId, dispute, place, count, field, nameOf, mayDecide }: AdjudicationProps) {
  const { labelled } = dispute
  const { item } = labelled
  const labels = labelled.labels.filter((label) => label.field === dispute.field)
  const final = labelled.final_labels.find((label) => label.field === dispute.field) ?? null
  const [query] = useItemCalls(project.id, [item.call_id])
  const call = query?.data?.[0]
  const suggestion =
    call === undefined || field === null ? undefined : givenLabels([field], call.summary, "").suggestions[field.name]
  const decide = useDecide()
  const [isOther, setOther] = useState(false)
  const send = (choice: { feedback_id: string } | { value: unknown } | null) => {
    if (mayDecide && !decide.isPending) {
      decide.mutate({ project_id: project.id, queueId, itemId: item.id, field: dispute.field, choice })
    }
  }
  // Two who say the same are one choice.
  const choices = labels.filter((label, index) => labels.findIndex(({ value }) => isSame(value, label.value)) === index)
  const peopleOf = (value: unknown) =>
    labels.filter((one) => isSame(one.value, value)).map((one) => nameOf(one.annotator_user_id))
  // Keys decide as the buttons do, and only while these are there: a decision is taken back before there is another.
  const isOpen = final === null && !isOther
  useKeys([
    ...(isOpen ? choices : []).slice(0, 8).map((label, index) => ({
      keys: String(index + 1),
      label: "decide",
      group: "Queue",
      run: () => send({ feedback_id: label.feedback_id }),
    })),
    ...(isOpen && mayDecide && field !== null
      ? [
          {
            keys: String(Math.min(9, choices.length + 1)),
            label: "decide otherwise",
            group: "Queue",
            run: () => setOther(true),
          },
        ]
      : []),
  ])
  const params = { ...project.params, trace: item.call_trace_id }
  return (
    <section className={styles.pane} aria-label={`Decide: ${dispute.field}`}>
      <PaneHead
        title={field?.title ?? dispute.field}
        note={`${place} of ${count}`}
        tools={
          <LinkButton
            size="small"
            kind="quiet"
            icon={Route}
            to="/$entity/$project/traces/$trace"
            params={params}
            search={{ span: item.call_id }}
          >
            Open trace
          </LinkButton>
        }
      />
      <div className={styles.sides}>
        {labels.map((label) => (
          <div key={label.feedback_id} className={styles.side}>
            <p className={styles.who}>
              <Avatar name={nameOf(label.annotator_user_id)} /> {nameOf(label.annotator_user_id)},{" "}
              <Time at={label.created_at} />
            </p>
            <p className={styles.value}>{wordOf(label.value)}</p>
          </div>
        ))}
        {suggestion !== undefined && (
          <div className={styles.side}>
            <p className={styles.who}>{suggestion.scorer}, a scorer</p>
            <p className={styles.value}>
              {wordOf(suggestion.value)}
              {suggestion.confidence !== null && (
                <span className={styles.note}> {suggestion.confidence.toFixed(2)}</span>
              )}
            </p>
          </div>
        )}
      </div>
      <div className={styles.decide}>
        {final !== null ? (
          <>
            <span>
              Decided: <b>{wordOf(final.value)}</b>{" "}
              <span className={styles.note}>
                by {nameOf(final.decided_by)}, <Time at={final.decided_at} />
              </span>
            </span>
            <Button kind="quiet" disabled={!mayDecide || decide.isPending} onClick={() => send(null)}>
              Take the decision back
            </Button>
          </>
        ) : isOther && field !== null ? (
          <OtherValue field={field} onChoose={(value) => send({ value })} onClose={() => setOther(false)} />
        ) : (
          <>
            <span className={styles.note}>Decide</span>
            {choices.map((label, index) => (
              <Button
                key={label.feedback_id}
                keys={index < 8 ? String(index + 1) : undefined}
                disabled={!mayDecide || decide.isPending}
                onClick={() => send({ feedback_id: label.feedback_id })}
              >
                {`${wordOf(label.value)}, as ${peopleOf(label.value).join(", ")}`}
              </Button>
            ))}
            <Button
              keys={String(Math.min(9, choices.length + 1))}
              disabled={!mayDecide || decide.isPending || field === null}
              onClick={() => setOther(true)}
            >
              Other…
            </Button>
          </>
        )}
        {!mayDecide && (
          <span className={styles.note}>Whoever may write to the project decides; your role here does not.</span>
        )}
      </div>
      {decide.error !== null && (
        <div className={styles.error}>
          <ErrorNote what="The decision was not stored." error={decide.error} />
        </div>
      )}
      <div className={styles.item} tabIndex={0} aria-label="Item" role="region">
        {query?.error && (
          <ErrorNote what="The call could not be read." error={query.error} onRetry={() => void query.refetch()} />
        )}
        {call === undefined ? (
          !query?.error && <SkeletonRows what="Reading the call" rows={6} />
        ) : (
          <ItemContent call={call} displayFields={item.display_fields} isBlind={false} />
        )}
      </div>
    </section>
  )
}

interface OtherValueProps {
  field: LabelField
  onChoose: (value: unknown) => void
  onClose: () => void
}

function OtherValue({ field, onChoose, onClose }: OtherValueProps) {
  const [draft, setDraft] = useState(emptyDraft)
  if (field.kind === "choice") {
    return (
      <>
        {field.options.map(({ value, label }) => (
          <Button key={label} onClick={() => onChoose(value)}>
            {label}
          </Button>
        ))}
        <Button kind="quiet" onClick={onClose}>
          Leave it
        </Button>
      </>
    )
  }
  const given = answerOf(field, draft)
  const typed = draft.answers[field.name]
  return (
    <form
      className={styles.other}
      onSubmit={(event) => {
        event.preventDefault()
        if (given.kind === "value") onChoose(given.value)
      }}
    >
      {field.kind === "many" ? (
        <span className={styles.options} role="group" aria-label={`Another value for ${field.title}`}>
          {field.options.map(({ value, label }) => (
            <Button
              key={label}
              isOn={isChosen(field, draft, value)}
              onClick={() => setDraft(withChoice(field, draft, value))}
            >
              {label}
            </Button>
          ))}
        </span>
      ) : (
        <TextField
          label={`Another value for ${field.title}`}
          isLabelHidden
          autoFocus
          value={typeof typed === "string" ? typed : ""}
          error={given.kind === "bad" ? given.why : null}
          onChange={(event) => setDraft(withAnswer(field, draft, event.target.value))}
        />
      )}
      <Button type="submit" disabled={given.kind !== "value"}>
        Decide
      </Button>
      <Button kind="quiet" onClick={onClose}>
        Leave it
      </Button>
    </form>
  )
}
