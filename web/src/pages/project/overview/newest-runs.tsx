/** The runs of the wandb client, the newest first, and what stands in the place of models where there are none. */
import { type ListedRun, useRunCount, useRunPages } from "../../../api/runs/run-list.ts"
import { Pane } from "../../../components/layout/pane.tsx"
import { Count } from "../../../components/signs/figures.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { formatExact, formatNumber } from "../../../format/numbers.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { RunState } from "../runs/run-state.tsx"
import { lastStep, summaryNumbers } from "../runs/run-values.ts"
import { NoModels } from "../training/no-models.tsx"
import { slow } from "./live.ts"
import styles from "./newest-runs.module.css"

const mostShown = 8
const mostValues = 3
/** The run of a model leads to the model, which has a place of its own. */
const ofNoModel = { filters: { model: null } }
/** What a run is judged by stands before its step times and learning rates. */
const telling = /reward|loss|score|acc/i

export function NewestRuns({ project }: { project: CurrentProject }) {
  const count = useRunCount(project.params, ofNoModel, slow)
  const runs = useRunPages(project.params, ofNoModel, slow)
  return (
    <div className={styles.runs}>
      <Pane
        title="Runs"
        note={count.data !== undefined && <Count of={count.data} />}
        tools={
          <TextLink to="/$entity/$project/runs" params={project.params}>
            All runs
          </TextLink>
        }
        isOpenEnded
      >
        <Loaded query={runs} what="runs">
          {(rows) => (
            <ul>
              {rows.slice(0, mostShown).map((run) => (
                <RunRow key={run.name} project={project} run={run} />
              ))}
            </ul>
          )}
        </Loaded>
      </Pane>
    </div>
  )
}

function RunRow({ project, run }: { project: CurrentProject; run: ListedRun }) {
  // The client writes them in any order; below each other they are compared.
  const numbers = summaryNumbers(run.summaryMetrics).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const values = [
    ...numbers.filter(({ name }) => telling.test(name)),
    ...numbers.filter(({ name }) => !telling.test(name)),
  ].slice(0, mostValues)
  const step = lastStep(run.summaryMetrics)
  return (
    <li className={styles.row}>
      <RunState of={run.state} />
      <TextLink
        isQuiet
        className={styles.name}
        title={run.displayName}
        to="/$entity/$project/runs/$name"
        params={{ ...project.params, name: run.name }}
      >
        {run.displayName || run.name}
      </TextLink>
      <span className={styles.note}>
        {[step === null ? "no step yet" : `step ${step}`, run.group, run.jobType].filter(Boolean).join(", ")}
      </span>
      <span className={styles.values}>
        {values.map(({ name, value }) => (
          <span key={name} title={`${name} ${formatExact(value)}`}>
            {name} <b>{formatNumber(value)}</b>
          </span>
        ))}
      </span>
      <span className={styles.time}>
        <Time at={run.createdAt} />
      </span>
    </li>
  )
}

/** A project that logs runs alone need not be told about models at length. */
export function WithoutModels({
  project,
  hasRuns = false,
}: {
  project: CurrentProject
  hasRuns?: boolean | undefined
}) {
  return hasRuns ? (
    <p className={styles.none}>
      No models yet.{" "}
      <TextLink to="/$entity/$project/models" params={project.params}>
        How the first is made
      </TextLink>
    </p>
  ) : (
    <NoModels project={project} />
  )
}
