/** Where the rows come from. Calls, evaluations and datasets are chosen on their own pages, queues and rollouts here. */
import { useQueues } from "../../../api/labelling/annotation-queues.ts"
import { SelectField } from "../../../components/controls/field.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { counted } from "../../../format/counted.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { type RangeName, rangeNames, ranges } from "../traces/time-range.ts"
import { noCountFrom, numberOf } from "../typed-numbers.ts"
import { Committed, textOf } from "./committed.tsx"
import { mostQueues } from "./known-fields.ts"
import type { TrainSearch } from "./train-search.ts"

interface SourceFieldsProps {
  project: CurrentProject
  search: TrainSearch
  onChange: (next: Partial<TrainSearch>) => void
}

type Source = NonNullable<TrainSearch["from"]> | "calls"

const sourceWords: Record<Source, string> = {
  calls: "traces and calls",
  queue: "labels of a queue",
  rollouts: "rollouts: attempts that agents made",
  evaluation: "trials of evaluations",
  dataset: "rows of a dataset",
}

/** Those that are chosen here; the others only once a page of theirs led here. */
const choosable: ReadonlySet<Source> = new Set(["calls", "queue", "rollouts"])

export function SourceFields({ project, search, onChange }: SourceFieldsProps) {
  const { from = "calls" } = search
  return (
    <>
      <SelectField
        label="Rows"
        value={from}
        onChange={({ target }) => onChange(changedSource(target.value as Source, search))}
      >
        {(Object.keys(sourceWords) as Source[])
          .filter((source) => source === from || choosable.has(source))
          .map((source) => (
            <option key={source} value={source}>
              {sourceWords[source]}
            </option>
          ))}
      </SelectField>
      {from === "rollouts" ? (
        <RolloutFields project={project} search={search} onChange={onChange} />
      ) : from === "queue" ? (
        <QueueChoice
          project={project}
          queue={search.queue}
          label="Queue"
          hint="labels on which all agree, and what was decided where they differ"
          onChange={(queue) => onChange({ queue, ...otherFields })}
        />
      ) : (
        <p>{wordsOf(search)}</p>
      )}
    </>
  )
}

/** Fields of one source are unknown to another. */
const otherFields = { score: undefined, values: undefined, min: undefined, fix: undefined } as const

/** Rollouts were sampled by a model in training, and most have a reward: that is what they are for. */
function changedSource(source: Source, { pairs }: TrainSearch): Partial<TrainSearch> {
  if (source !== "rollouts") return { from: source === "calls" ? undefined : source, ...otherFields }
  const byScore = pairs === "vote" ? { pairs: undefined } : {}
  return { from: source, ...otherFields, ...byScore, mode: "rl", score: ["rollout.reward"] }
}

function RolloutFields({ project, search, onChange }: SourceFieldsProps) {
  const { rollouts = [], rolloutGroup, step, since = "", queue } = search
  return (
    <>
      {rollouts.length > 0 && <p>{counted(rollouts.length, "rollout that was", "rollouts that were")} picked</p>}
      <SelectField label="Begun" value={since} onChange={({ target }) => onChange({ since: textOf(target.value) })}>
        <option value="">at any time</option>
        {since !== "" && !rangeNames.includes(since as RangeName) && <option value={since}>since {since}</option>}
        {rangeNames.map((name) => (
          <option key={name} value={name}>
            {ranges[name].name.toLowerCase()}
          </option>
        ))}
      </SelectField>
      <Committed
        label="Of the group"
        value={rolloutGroup ?? ""}
        hint="as calls named it; empty: every group"
        onCommit={(text) => onChange({ rolloutGroup: textOf(text) })}
      />
      <Committed
        label="Answered by step"
        value={step === undefined ? "" : `${step}`}
        hint="of any model; empty: every step"
        inputMode="numeric"
        problemOf={noCountFrom(0)}
        onCommit={(text) => onChange({ step: numberOf(text) })}
      />
      <QueueChoice
        project={project}
        queue={queue}
        label="Labels of"
        none="no queue"
        hint="a queue that has calls of these rollouts: its labels can be the reward"
        onChange={(next) => onChange({ queue: next })}
      />
    </>
  )
}

function wordsOf({ from, ids = [], runs = [], dataset, version, scope, q = "", since, until }: TrainSearch): string {
  if (from === "evaluation") return `${counted(runs.length, "evaluation")}: each trial a row`
  if (from === "dataset") return `${dataset ?? ""}${version === undefined ? "" : `, version ${version}`}`
  if (ids.length > 0) return `${counted(ids.length, "call that was", "calls that were")} picked`
  const parts = [
    `${scope === "all" ? "every call" : "every trace"}${q === "" ? "" : ` with ${q}`}`,
    ...(since === undefined ? [] : [`since ${since}`]),
    ...(until === undefined ? [] : [`until ${until}`]),
  ]
  return parts.join(", ")
}

interface QueueChoiceProps {
  project: CurrentProject
  queue: string | undefined
  label: string
  hint: string
  none?: string
  onChange: (queue: string | undefined) => void
}

function QueueChoice({ project, queue, label, hint, none = "…", onChange }: QueueChoiceProps) {
  const queues = useQueues({ project_id: project.id, limit: mostQueues })
  return (
    <>
      {queues.error !== null && (
        <ErrorNote what="The queues could not be read." error={queues.error} onRetry={() => void queues.refetch()} />
      )}
      <SelectField
        label={label}
        hint={hint}
        value={queue ?? ""}
        onChange={({ target }) => onChange(textOf(target.value))}
      >
        <option value="">{none}</option>
        {(queues.data ?? []).map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
    </>
  )
}
