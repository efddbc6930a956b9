/** The fields that a score is the sum of, and what their texts count. */
import { Committed, itemsOf } from "./committed.tsx"
import type { TrainSearch } from "./train-search.ts"

interface ScoreFieldsProps {
  label: string
  search: TrainSearch
  onChange: (next: Partial<TrainSearch>) => void
}

export function ScoreFields({ label, search, onChange }: ScoreFieldsProps) {
  return (
    <>
      <Committed
        label={label}
        value={(search.score ?? []).join(", ")}
        hint={<ScoreHint from={search.from} />}
        onCommit={(text) => onChange({ score: itemsOf(text) })}
      />
      <Committed
        label="What texts count"
        value={(search.values ?? []).join(", ")}
        hint="yes=1, no=0; numbers, true and false count as they are"
        onCommit={(text) => onChange({ values: itemsOf(text) })}
      />
    </>
  )
}

function ScoreHint({ from }: { from: TrainSearch["from"] }) {
  const example = {
    queue: "label.tone, label.done*0.5",
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
