/** Where the rows come from, what is learnt of them, and which model learns. */
import { useState } from "react"
import { useMakeModel } from "../../../api/training/train-from.ts"
import { Button } from "../../../components/controls/button.tsx"
import { SelectField, TextField } from "../../../components/controls/field.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { noCountFrom, numberOf } from "../typed-numbers.ts"
import { Committed, textOf } from "./committed.tsx"
import { useKnownFields } from "./known-fields.ts"
import { LearnFields } from "./learn-fields.tsx"
import { SourceFields } from "./source-fields.tsx"
import styles from "./train-form.module.css"
import { modeOf, type TrainSearch } from "./train-search.ts"
import type { TrainedModels } from "./use-trained-models.ts"

interface TrainFormProps {
  project: CurrentProject
  search: TrainSearch
  models: TrainedModels
  onChange: (next: Partial<TrainSearch>) => void
  /** In milliseconds, of when the page was opened. */
  now: number
}

export function TrainForm({ project, search, models, now, onChange }: TrainFormProps) {
  const mode = modeOf(search)
  const known = useKnownFields(project, search, now)
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
        <ModelFields project={project} isNew={search.newModel === true} models={models} onChange={onChange} />
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
            problemOf={noCountFrom(1)}
            onCommit={(text) => onChange({ batch: numberOf(text) })}
          />
        )}
      </fieldset>
    </form>
  )
}

/** No name of a model has a space. */
const newModel = "a new model"

interface ModelFieldsProps extends Pick<TrainFormProps, "project" | "models" | "onChange"> {
  isNew: boolean
}

function ModelFields({ project, isNew, models: { models, chosen, error, retry }, onChange }: ModelFieldsProps) {
  return (
    <>
      {error !== null && <ErrorNote what="The models could not be read." error={error} onRetry={retry} />}
      {models !== undefined && models.length > 0 && (
        <SelectField
          label="Model"
          value={isNew ? newModel : (chosen?.name ?? "")}
          onChange={({ target: { value } }) =>
            onChange(value === newModel ? { newModel: true } : { model: value, newModel: undefined })
          }
        >
          {!isNew && chosen === null && <option value="">…</option>}
          {models.map(({ id, name }) => (
            <option key={id}>{name}</option>
          ))}
          <option value={newModel}>a new model…</option>
        </SelectField>
      )}
      {(isNew || models?.length === 0) && (
        <NewModel project={project} onMade={(name) => onChange({ model: name, newModel: undefined })} />
      )}
    </>
  )
}

/** For a project without a model: the shipped base model can be trained at once. */
function NewModel({ project, onMade }: { project: CurrentProject; onMade: (name: string) => void }) {
  const [name, setName] = useState("first")
  const make = useMakeModel()
  const canMake = name.trim() !== "" && !make.isPending
  const begin = () => {
    const names = { ...project.params, name, base_model: "heddle/tiny" }
    if (canMake) make.mutate(names, { onSuccess: () => onMade(name) })
  }
  return (
    <>
      <TextField
        label="New model"
        hint="on the shipped base model heddle/tiny"
        value={name}
        onChange={({ target }) => setName(target.value)}
        onKeyDown={({ key }) => {
          if (key === "Enter") begin()
        }}
      />
      {make.error !== null && <ErrorNote what="The model was not made." error={make.error} />}
      <Button disabled={!canMake} onClick={begin}>
        Make the model
      </Button>
    </>
  )
}
