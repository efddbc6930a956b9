/** Where the rows come from, what is learnt of them, and which model learns. */
import { useState } from "react"
import { useQueues } from "../../../api/annotation-queues.ts"
import { useMakeModel } from "../../../api/train-from.ts"
import { Button } from "../../../components/controls/button.tsx"
import { SelectField, TextField } from "../../../components/controls/field.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { counted } from "../../../format/counted.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { Committed, numberOf, textOf } from "./committed.tsx"
import { LearnFields } from "./learn-fields.tsx"
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

export function TrainForm({ project, search, models, model, onChange }: TrainFormProps) {
  const mode = modeOf(search)
  return (
    <form className={styles.form} aria-label="What to train" onSubmit={(event) => event.preventDefault()}>
      <fieldset>
        <legend>From</legend>
        <From project={project} search={search} onChange={onChange} />
      </fieldset>
      <fieldset>
        <legend>Learn</legend>
        <LearnFields search={search} onChange={onChange} />
      </fieldset>
      <fieldset>
        <legend>Into</legend>
        {models.length === 0 ? (
          <NewModel project={project} onMade={(name) => onChange({ model: name })} />
        ) : (
          <SelectField
            label="Model"
            value={model?.name ?? ""}
            onChange={({ target }) => onChange({ model: target.value })}
          >
            {models.map(({ id, name }) => (
              <option key={id}>{name}</option>
            ))}
          </SelectField>
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

function From({ project, search, onChange }: Pick<TrainFormProps, "project" | "search" | "onChange">) {
  const { from, ids = [], q = "", runs = [], dataset, version } = search
  if (from === "queue") return <QueueChoice project={project} queue={search.queue} onChange={onChange} />
  if (from === "evaluation") return <p>{counted(runs.length, "evaluation")}: each trial a row</p>
  if (from === "dataset") {
    return (
      <p>
        the dataset {dataset}
        {version !== undefined && `, version ${version}`}
      </p>
    )
  }
  if (ids.length > 0) return <p>{counted(ids.length, "call that was", "calls that were")} picked</p>
  return (
    <p>
      {search.scope === "all" ? "every call" : "every trace"}
      {q !== "" && (
        <>
          {" "}
          with <code>{q}</code>
        </>
      )}
      {search.since !== undefined && `, since ${search.since}`}
      {search.until !== undefined && `, until ${search.until}`}
    </p>
  )
}

const mostQueues = 100

function QueueChoice({
  project,
  queue,
  onChange,
}: {
  project: CurrentProject
  queue: string | undefined
  onChange: TrainFormProps["onChange"]
}) {
  const queues = useQueues({ project_id: project.id, limit: mostQueues })
  return (
    <>
      {queues.error !== null && (
        <ErrorNote what="The queues could not be read." error={queues.error} onRetry={() => void queues.refetch()} />
      )}
      <SelectField
        label="Queue"
        hint="labels on which all agree, and what was decided where they differ"
        value={queue ?? ""}
        onChange={({ target }) => onChange({ queue: target.value })}
      >
        <option value="">…</option>
        {(queues.data ?? []).map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
    </>
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
