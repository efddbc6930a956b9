/** The questions about an item. All of them beside it; on a narrow screen one at a time, below it. */
import type { Ref } from "react"
import { classNames } from "../../../../components/class-names.ts"
import { TextArea } from "../../../../components/controls/field.tsx"
import { Keys } from "../../../../components/signs/keys.tsx"
import { answerOf, type Draft } from "../../../../labelling/label-draft.ts"
import type { LabelField } from "../../../../labelling/label-fields.ts"
import type { GivenLabels } from "../../../../labelling/suggestions.ts"
import { Question } from "./question.tsx"
import styles from "./questions.module.css"

interface QuestionsProps {
  fields: readonly LabelField[]
  draft: Draft
  /** Name of the question in focus. */
  active: string | undefined
  /** null: nothing of it is shown. */
  given: GivenLabels | null
  nameOf: (userId: string) => string
  isStepwise: boolean
  isDisabled: boolean
  noteRef: Ref<HTMLTextAreaElement>
  onChoose: (field: LabelField, value: unknown) => void
  onType: (field: LabelField, text: string) => void
  onNote: (text: string) => void
  onActivate: (name: string) => void
}

export function Questions(props: QuestionsProps) {
  const { fields, draft, active, given, nameOf, isStepwise, isDisabled, noteRef, onNote, onActivate } = props
  const shown = isStepwise ? fields.filter(({ name }) => name === active) : fields
  return (
    <section className={styles.questions} aria-label="Questions">
      {isStepwise && fields.length > 1 && (
        <div className={styles.steps} role="group" aria-label="Which question">
          {fields.map((field) => {
            const isAnswered = answerOf(field, draft).kind === "value"
            return (
              <button
                key={field.name}
                type="button"
                aria-label={`${field.title}${isAnswered ? ", answered" : ""}`}
                aria-current={field.name === active ? "step" : undefined}
                className={classNames(isAnswered && styles.done)}
                onClick={() => onActivate(field.name)}
              >
                <i />
              </button>
            )
          })}
        </div>
      )}
      {shown.map((field) => (
        <Question
          key={field.name}
          field={field}
          draft={draft}
          isActive={field.name === active}
          suggestion={given?.suggestions[field.name] ?? null}
          others={(given?.others ?? [])
            .filter((one) => one.field === field.name)
            .map(({ value, userId }) => ({ value, name: nameOf(userId) }))}
          isDisabled={isDisabled}
          onChoose={(value) => props.onChoose(field, value)}
          onType={(text) => props.onType(field, text)}
          onActivate={() => onActivate(field.name)}
        />
      ))}
      <details className={styles.note} open={!isStepwise || undefined}>
        <summary>
          Note <Keys of="n" />
        </summary>
        <TextArea
          ref={noteRef}
          label="Note"
          isLabelHidden
          rows={3}
          disabled={isDisabled}
          placeholder="What should somebody know who reads this label?"
          value={draft.note}
          onChange={(event) => onNote(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.currentTarget.blur()
          }}
        />
        <p className={styles.kept}>Kept on this device as you type; sent with the labels.</p>
      </details>
    </section>
  )
}
