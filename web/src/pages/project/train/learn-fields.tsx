/** What is learnt: answers, rewards or preferences, and the fields that say which are good. */
import type { FoundField } from "../../../calls/found-fields.ts"
import { Radio } from "../../../components/controls/field.tsx"
import { noNumber, numberOf } from "../typed-numbers.ts"
import { Committed, itemsOf, textOf } from "./committed.tsx"
import { FieldChoices } from "./field-choices.tsx"
import { PairFields } from "./pair-fields.tsx"
import { ScoreFields } from "./score-fields.tsx"
import styles from "./train-form.module.css"
import { modeOf, type TrainSearch } from "./train-search.ts"

interface LearnFieldsProps {
  search: TrainSearch
  known: readonly FoundField[]
  onChange: (next: Partial<TrainSearch>) => void
}

const modes = [
  { mode: "sft", label: "from examples: imitate the answers, as labelled or corrected" },
  { mode: "rl", label: "from rewards: compare answers to the same question" },
  { mode: "dpo", label: "from preferences: of two answers to a question, the better one" },
] as const

export function LearnFields({ search, known, onChange }: LearnFieldsProps) {
  const chosen = modeOf(search)
  return (
    <>
      <div className={styles.kinds}>
        {modes.map(({ mode, label }) => (
          <Radio
            key={mode}
            name="mode"
            label={label}
            checked={chosen === mode}
            onChange={() => onChange({ mode: mode === "sft" ? undefined : mode })}
          />
        ))}
      </div>
      {chosen === "sft" && <ExampleFields search={search} known={known} onChange={onChange} />}
      {chosen === "rl" && <RewardFields search={search} known={known} onChange={onChange} />}
      {chosen === "dpo" && <PairFields search={search} known={known} onChange={onChange} />}
    </>
  )
}

function ExampleFields({ search, known, onChange }: LearnFieldsProps) {
  const { fix = [] } = search
  return (
    <>
      <ScoreFields label="Score" search={search} known={known} onChange={onChange} />
      <Committed
        label="Keep from a score of"
        value={search.min === undefined ? "" : `${search.min}`}
        inputMode="decimal"
        problemOf={noNumber}
        onCommit={(text) => onChange({ min: numberOf(text) })}
      />
      <Committed
        label="Corrections"
        value={fix.join(", ")}
        hint="fields whose text takes the place of the answer"
        onCommit={(text) => onChange({ fix: itemsOf(text) })}
      />
      <FieldChoices
        label="Corrections: known fields"
        choices={known
          .filter(({ isText }) => isText)
          .map(({ path }) => ({
            name: path,
            isOn: fix.includes(path),
            onToggle: () => onChange({ fix: fix.includes(path) ? fix.filter((one) => one !== path) : [...fix, path] }),
          }))}
      />
      <Committed
        label="Only the best of each"
        value={search.group ?? ""}
        hint="question, input or a field; empty: all"
        onCommit={(text) => onChange({ group: textOf(text) })}
      />
    </>
  )
}

function RewardFields({ search, known, onChange }: LearnFieldsProps) {
  return (
    <>
      <ScoreFields label="Reward" search={search} known={known} onChange={onChange} />
      <Committed
        label="Compare within"
        value={search.group ?? ""}
        hint={
          search.from === "rollouts"
            ? "their group, unless it says a field"
            : "question, unless it says input or a field"
        }
        onCommit={(text) => onChange({ group: textOf(text) })}
      />
    </>
  )
}
