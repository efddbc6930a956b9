/** One question: its options with their keys, or a place to type; what was suggested, and the rule while it is in focus. */
import type { KeyboardEvent } from "react"
import { classNames } from "../../../../components/class-names.ts"
import { TextArea, TextField } from "../../../../components/controls/field.tsx"
import { Avatar } from "../../../../components/signs/avatar.tsx"
import { ForReaders } from "../../../../components/text/for-readers.tsx"
import { answerOf, type Draft, isChosen } from "../../../../labelling/label-draft.ts"
import { isSame, type LabelField, wordOf } from "../../../../labelling/label-fields.ts"
import type { Suggestion } from "../../../../labelling/suggestions.ts"
import styles from "./question.module.css"

interface QuestionProps {
  field: LabelField
  draft: Draft
  isActive: boolean
  suggestion: Suggestion | null
  others: readonly { value: unknown; name: string }[]
  isDisabled: boolean
  onChoose: (value: unknown) => void
  onType: (text: string) => void
  onActivate: () => void
}

export function Question(props: QuestionProps) {
  const { field, draft, isActive, suggestion, onActivate } = props
  const hasOptions = field.kind === "choice" || field.kind === "many"
  const foreign = hasOptions ? [] : props.others
  return (
    <div
      className={classNames(styles.question, isActive && styles.active)}
      data-question={field.name}
      // The focus of what is inside it.
      onFocus={() => !isActive && onActivate()}
    >
      <div className={styles.head}>
        <h2 id={`question-${field.name}`}>{field.title}</h2>
        {field.kind === "many" && <span className={styles.hint}>any number</span>}
      </div>
      {hasOptions ? <Options {...props} /> : <Typed {...props} />}
      {foreign.map(({ value, name }) => (
        <p key={name} className={styles.said}>
          <Avatar name={name} /> {name}: {wordOf(value)}
        </p>
      ))}
      {suggestion !== null && !hasOptions && (
        <p className={styles.said}>
          {suggestion.scorer} suggests {wordOf(suggestion.value)}
        </p>
      )}
      {isActive && field.rule !== "" && <p className={styles.rule}>{field.rule}</p>}
      <FieldError field={field} draft={draft} />
    </div>
  )
}

function FieldError({ field, draft }: Pick<QuestionProps, "field" | "draft">) {
  const answer = answerOf(field, draft)
  return answer.kind === "bad" ? (
    <p className={styles.bad} role="alert">
      {answer.why}
    </p>
  ) : null
}

const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

/** One stop of the Tab key; the arrows go from option to option, and Space chooses. */
function Options({ field, draft, suggestion, others, isDisabled, onChoose }: QuestionProps) {
  const isMany = field.kind === "many"
  const chosen = field.options.findIndex(({ value }) => isChosen(field, draft, value))
  const stop = Math.max(0, chosen)
  const walk = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = steps[event.key]
    if (step === undefined || event.altKey) return
    event.preventDefault()
    const buttons = [...event.currentTarget.querySelectorAll("button")]
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
    buttons[(at + step + buttons.length) % buttons.length]?.focus()
  }
  return (
    // oxlint-disable-next-line jsx-a11y/interactive-supports-focus, jsx-a11y/no-static-element-interactions -- one of its options has the focus
    <div
      className={classNames(styles.options, field.isScale && styles.scale)}
      role={isMany ? "group" : "radiogroup"}
      aria-labelledby={`question-${field.name}`}
      onKeyDown={walk}
    >
      {field.options.map(({ value, label }, index) => {
        const isOn = isChosen(field, draft, value)
        const isSuggested = suggestion !== null && isSame(suggestion.value, value)
        const people = others.filter((one) => isSame(one.value, value))
        return (
          <button
            key={label}
            type="button"
            role={isMany ? "checkbox" : "radio"}
            aria-checked={isOn}
            tabIndex={index === stop ? 0 : -1}
            disabled={isDisabled}
            data-option
            className={classNames(styles.option, isMany && styles.small, isSuggested && !isOn && styles.suggested)}
            onClick={() => onChoose(value)}
          >
            {index < 9 && !field.isScale && (
              <kbd className={styles.key} aria-hidden>
                {index + 1}
              </kbd>
            )}
            <span>{label}</span>
            {isSuggested && suggestion !== null && (
              <span className={styles.source} title={`Suggested by ${suggestion.scorer}`}>
                <ForReaders>suggested by </ForReaders>
                {suggestion.scorer} {suggestion.confidence === null ? "" : suggestion.confidence.toFixed(2)}
              </span>
            )}
            {people.map(({ name }) => (
              <span key={name} className={styles.person}>
                <Avatar name={name} />
                <ForReaders>chosen by {name}</ForReaders>
              </span>
            ))}
          </button>
        )
      })}
    </div>
  )
}

function Typed({ field, draft, isDisabled, onType }: QuestionProps) {
  const given = draft.answers[field.name]
  const shared = {
    label: field.title,
    isLabelHidden: true,
    disabled: isDisabled,
    value: typeof given === "string" ? given : "",
  }
  if (field.kind === "number") {
    return (
      <TextField
        {...shared}
        inputMode="decimal"
        placeholder={rangeWords(field)}
        onChange={(event) => onType(event.target.value)}
        onKeyDown={leaveOnEscape}
      />
    )
  }
  return (
    <TextArea
      {...shared}
      rows={3}
      isMono={field.kind === "json"}
      placeholder={field.kind === "json" ? "JSON" : undefined}
      onChange={(event) => onType(event.target.value)}
      onKeyDown={leaveOnEscape}
    />
  )
}

function leaveOnEscape(event: KeyboardEvent<HTMLElement>): void {
  if (event.key === "Escape") event.currentTarget.blur()
}

function rangeWords({ least, most, isWhole }: LabelField): string {
  const kind = isWhole ? "a whole number" : "a number"
  if (least !== null && most !== null) return `${kind} from ${least} to ${most}`
  if (least !== null) return `${kind}, at least ${least}`
  return most === null ? kind : `${kind}, at most ${most}`
}
