/** Where pairs of a better and a worse answer come from, and how much they may change the model. */
import type { FoundField } from "../../../calls/found-fields.ts"
import { SelectField } from "../../../components/controls/field.tsx"
import { Committed, textOf } from "./committed.tsx"
import { FieldChoices } from "./field-choices.tsx"
import { ScoreFields } from "./score-fields.tsx"
import type { TrainSearch } from "./train-search.ts"

interface PairFieldsProps {
  search: TrainSearch
  known: readonly FoundField[]
  onChange: (next: Partial<TrainSearch>) => void
}

/** A vote prefers one call to others, and says nothing of rollouts. */
const origins = {
  score: "scores: the best answer to a question against the worst",
  vote: "votes: an answer against those it was preferred to",
  fields: "two fields: what should have been said against what was",
} as const

export function PairFields({ search, known, onChange }: PairFieldsProps) {
  const { pairs = "score" } = search
  return (
    <>
      <SelectField
        label="Pairs from"
        value={pairs}
        onChange={({ target: { value } }) =>
          onChange({ pairs: value === "vote" || value === "fields" ? value : undefined })
        }
      >
        {Object.entries(origins)
          .filter(([origin]) => origin !== "vote" || pairs === "vote" || search.from !== "rollouts")
          .map(([origin, words]) => (
            <option key={origin} value={origin}>
              {words}
            </option>
          ))}
      </SelectField>
      {pairs === "score" && <ScoreFields label="Score" search={search} known={known} onChange={onChange} />}
      {pairs === "vote" && (
        <Committed
          label="Votes"
          value={search.vote ?? ""}
          hint="a field with value and over; empty: votes of the playground"
          onCommit={(text) => onChange({ vote: textOf(text) })}
        />
      )}
      {pairs === "fields" && (
        <>
          <Committed
            label="Better answer"
            value={search.chosen ?? ""}
            hint="a field, such as label.better; empty: what was answered"
            onCommit={(text) => onChange({ chosen: textOf(text) })}
          />
          <AnswerChoices
            label="Better answer: known fields"
            known={known}
            chosen={search.chosen}
            onChange={(chosen) => onChange({ chosen })}
          />
          <Committed
            label="Worse answer"
            value={search.rejected ?? ""}
            hint="a field; empty: what was answered"
            onCommit={(text) => onChange({ rejected: textOf(text) })}
          />
          <AnswerChoices
            label="Worse answer: known fields"
            known={known}
            chosen={search.rejected}
            onChange={(rejected) => onChange({ rejected })}
          />
        </>
      )}
      <Committed
        label="Beta"
        value={search.beta ?? ""}
        hint="the larger, the closer the model stays to where it began; empty: 0.1"
        inputMode="decimal"
        onCommit={(text) => onChange({ beta: textOf(text) })}
      />
      <SelectField
        label="Compared with"
        value={search.reference ?? "start"}
        onChange={({ target: { value } }) => onChange({ reference: value === "base" ? value : undefined })}
      >
        <option value="start">the step that training starts from</option>
        <option value="base">the base model</option>
      </SelectField>
    </>
  )
}

interface AnswerChoicesProps {
  label: string
  known: readonly FoundField[]
  chosen: string | undefined
  onChange: (chosen: string | undefined) => void
}

function AnswerChoices({ label, known, chosen, onChange }: AnswerChoicesProps) {
  return (
    <FieldChoices
      label={label}
      choices={known
        .filter(({ isText }) => isText)
        .map(({ path }) => ({
          name: path,
          isOn: path === chosen,
          onToggle: () => onChange(path === chosen ? undefined : path),
        }))}
    />
  )
}
