/** Where the rows come from, what is learnt of them, and which model learns. */
import { useState } from "react"
import { useMakeModel } from "../../../api/training/train-from.ts"
import { Button } from "../../../components/controls/button.tsx"
import { SelectField, TextField } from "../../../components/controls/field.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { Committed, numberOf, textOf } from "./committed.tsx"
import { useKnownFields } from "./known-fields.ts"
import { LearnFields } from "./learn-fields.tsx"
import { SourceFields } from "./source-fields.tsx"
import styles from "./train-form.module.css"
import { modeOf, type TrainSearch } from "./train-search.ts"

interface Model {
  id: string
  name: string
}

interface TrainFormProps {
  project: CurrentProject
  search: TrainSearch
  models: readonly Model[]
  model: Model | null
  onChange: (next: Partial<TrainSearch>) => void
}

/** No name of a model has a space. */
const newModel = "a new model"

export function TrainForm({ project, search, models, model, onChange }: TrainFormProps) {
  const mode = modeOf(search)
  const known = useKnownFields(project, search)
  const isNew = search.newModel === true
  return (
    <form className={styles.form} aria-label="What to train" onSubmit={(event) => event.preventDefault()}>
      <fieldset>
        <legend>From</legend>
        <SourceFields project={project} search={search} onChange={onChange} />
      </fieldset>
      <fieldset>
        <legend>Learn</legend>
        <LearnFields search={search} known={known} onChange={onChange} />
      </fieldset>
      <fieldset>
        <legend>Into</legend>
        {models.length > 0 && (
          <SelectField
            label="Model"
            value={isNew ? newModel : (model?.name ?? "")}
            onChange={({ target: { value } }) =>
              onChange(value === newModel ? { newModel: true } : { model: value, newModel: undefined })
            }
          >
            {models.map(({ id, name }) => (
              <option key={id}>{name}</option>
            ))}
            <option value={newModel}>a new model…</option>
          </SelectField>
        )}
        {(isNew || models.length === 0) && (
          <NewModel project={project} onMade={(name) => onChange({ model: name, newModel: undefined })} />
        )}
        <Committed
          label="Learning rate"
          value={search.rate ?? ""}
          hint={`empty: ${mode === "sft" ? "5e-5" : "5e-6"}`}
          inputMode="decimal"
          onCommit={(text) => onChange({ rate: textOf(text) })}
        />
        {mode !== "rl" && (
          <Committed
            label={mode === "dpo" ? "Pairs a step" : "Rows a step"}
            value={search.batch === undefined ? "" : `${search.batch}`}
            hint="empty: 2"
            inputMode="numeric"
            onCommit={(text) => onChange({ batch: numberOf(text) })}
          />
        )}
      </fieldset>
    </form>
  )
}

/** For who has none: the shipped base model can be trained at once. */
function NewModel({ project, onMade }: { project: CurrentProject; onMade: (name: string) => void }) {
  const [name, setName] = useState("first")
  const make = useMakeModel()
  const names = { entity: project.entity, project: project.project, name, base_model: "heddle/tiny" }
  return (
    <>
      <TextField
        label="New model"
        hint="on the shipped base model heddle/tiny"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      {make.error !== null && <ErrorNote what="The model was not made." error={make.error} />}
      <Button
        disabled={name.trim() === "" || make.isPending}
        onClick={() => make.mutate(names, { onSuccess: () => onMade(name) })}
      >
        Make the model
      </Button>
    </>
  )
}
