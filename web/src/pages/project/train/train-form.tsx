/** Where the rows come from, what is learnt of them, and which model learns. */
import { type ReactNode, useState } from "react"
import { useQueues } from "../../../api/annotation-queues.ts"
import { useMakeModel } from "../../../api/train-from.ts"
import { Button } from "../../../components/controls/button.tsx"
import { Radio, SelectField, TextField } from "../../../components/controls/field.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { formatCount } from "../../../format/numbers.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./train-form.module.css"
import type { TrainSearch } from "./train-search.ts"

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
  const isRl = search.mode === "rl"
  return (
    <form className={styles.form} aria-label="What to train" onSubmit={(event) => event.preventDefault()}>
      <fieldset>
        <legend>From</legend>
        <From project={project} search={search} onChange={onChange} />
      </fieldset>
      <fieldset>
        <legend>Learn</legend>
        <div className={styles.kinds}>
          <Radio
            name="mode"
            label="from examples: imitate the answers, as labelled or corrected"
            checked={!isRl}
            onChange={() => onChange({ mode: undefined })}
          />
          <Radio
            name="mode"
            label="from rewards: compare answers to the same question"
            checked={isRl}
            onChange={() => onChange({ mode: "rl" })}
          />
        </div>
        <Committed
          label={isRl ? "Reward" : "Score"}
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
        {!isRl && (
          <>
            <Committed
              label="Keep from a score of"
              value={search.min === undefined ? "" : `${search.min}`}
              inputMode="decimal"
              onCommit={(text) => onChange({ min: numberOf(text) })}
            />
            <Committed
              label="Corrections"
              value={(search.fix ?? []).join(", ")}
              hint="fields whose text takes the place of the answer"
              onCommit={(text) => onChange({ fix: itemsOf(text) })}
            />
          </>
        )}
        <Committed
          label={isRl ? "Compare within" : "Only the best of each"}
          value={search.group ?? ""}
          hint={isRl ? "question, unless it says input or a field" : "question, input or a field; empty: all"}
          onCommit={(text) => onChange({ group: text.trim() === "" ? undefined : text.trim() })}
        />
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
          hint={`empty: ${isRl ? "5e-6" : "5e-5"}`}
          inputMode="decimal"
          onCommit={(text) => onChange({ rate: text === "" ? undefined : text })}
        />
        {!isRl && (
          <Committed
            label="Rows a step"
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

function From({ project, search, onChange }: Pick<TrainFormProps, "project" | "search" | "onChange">) {
  const { from, ids = [], q = "", runs = [], dataset, version } = search
  if (from === "queue") return <QueueChoice project={project} queue={search.queue} onChange={onChange} />
  if (from === "evaluation")
    return <p>{runs.length === 1 ? "1 evaluation" : `${formatCount(runs.length)} evaluations`}: each trial a row</p>
  if (from === "dataset") {
    return (
      <p>
        the dataset {dataset}
        {version !== undefined && `, version ${version}`}
      </p>
    )
  }
  if (ids.length > 0) return <p>{formatCount(ids.length)} calls that were picked</p>
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

interface CommittedProps {
  label: string
  value: string
  hint?: ReactNode
  inputMode?: "decimal" | "numeric"
  onCommit: (text: string) => void
}

/** A typed value counts when the field is left, or with Enter: each change asks the server. */
function Committed({ value, onCommit, ...rest }: CommittedProps) {
  const commit = (text: string) => {
    if (text !== value) onCommit(text)
  }
  return (
    <TextField
      {...rest}
      key={value}
      isMono
      defaultValue={value}
      autoComplete="off"
      onBlur={({ target }) => commit(target.value)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === "Enter") commit(currentTarget.value)
      }}
    />
  )
}

const itemsOf = (text: string) => text.split(",").flatMap((item) => (item.trim() === "" ? [] : [item.trim()]))

function numberOf(text: string): number | undefined {
  const number = Number(text)
  return text.trim() === "" || !Number.isFinite(number) ? undefined : number
}
