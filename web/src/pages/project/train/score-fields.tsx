/** The fields that a score is the sum of, and what their texts count. */
import type { FoundField } from "../../../calls/found-fields.ts"
import { Committed, itemsOf } from "./committed.tsx"
import { FieldChoices } from "./field-choices.tsx"
import { goodWords, isInScore, toggledScore, toggledWord } from "./label-choices.ts"
import type { TrainSearch } from "./train-search.ts"

interface ScoreFieldsProps {
  label: string
  search: TrainSearch
  known: readonly FoundField[]
  onChange: (next: Partial<TrainSearch>) => void
}

export function ScoreFields({ label, search, known, onChange }: ScoreFieldsProps) {
  const words = [...new Set(known.filter((field) => isInScore(search, field)).flatMap((field) => field.words))]
  return (
    <>
      <Committed
        label={label}
        value={(search.score ?? []).join(", ")}
        hint={<ScoreHint from={search.from} />}
        onCommit={(text) => onChange({ score: itemsOf(text) })}
      />
      <FieldChoices
        label={`${label}: known fields`}
        choices={known
          .filter(({ isScored }) => isScored)
          .map((field) => ({
            name: field.path,
            isOn: isInScore(search, field),
            onToggle: () => onChange(toggledScore(search, field)),
          }))}
      />
      <Committed
        label="What texts count"
        value={(search.values ?? []).join(", ")}
        hint="yes=1, no=0; numbers, true and false count as they are"
        onCommit={(text) => onChange({ values: itemsOf(text) })}
      />
      <FieldChoices
        label="Words that count 1"
        choices={words.map((word) => ({
          name: word,
          isOn: goodWords(search).includes(word),
          onToggle: () => onChange({ values: toggledWord(search, words, word) }),
        }))}
      />
    </>
  )
}

function ScoreHint({ from }: { from: TrainSearch["from"] }) {
  const example = {
    queue: "label.tone, label.done*0.5",
    rollouts: "rollout.reward, scores.exact_match",
    evaluation: "scores.exact_match.correct",
    dataset: "row.grade",
    calls: "feedback.[quality].payload.value",
  }[from ?? "calls"]
  return (
    <>
      fields, with a weight where it is not 1: <code>{example}</code>
    </>
  )
}
