/** The runs that are compared, the baseline first, each with what it took; others can be added. */
import { getRouteApi } from "@tanstack/react-router"
import { Flag, X } from "lucide-react"
import { useEvalRuns } from "../../../api/evaluations/evaluations.ts"
import { Button } from "../../../components/controls/button.tsx"
import { SelectField } from "../../../components/controls/field.tsx"
import { Status } from "../../../components/signs/status.tsx"
import { Tag } from "../../../components/signs/tag.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import type { RunRows } from "../../../evaluations/run-rows.ts"
import { counted } from "../../../format/counted.ts"
import { formatDuration } from "../../../format/durations.ts"
import { formatTime } from "../../../format/times.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import type { ComparedRun } from "./compared-run.ts"
import styles from "./run-heads.module.css"
import { RunMark } from "./run-mark.tsx"

const route = getRouteApi("/signed-in/$entity/$project/compare")

interface RunHeadsProps {
  project: CurrentProject
  runs: readonly ComparedRun[]
  /** undefined: not read yet. */
  rows: readonly (RunRows | undefined)[]
  mostRuns: number
}

export function RunHeads({ project, runs, rows, mostRuns }: RunHeadsProps) {
  const navigate = route.useNavigate()
  const ids = runs.map(({ run }) => run.id)
  const setRuns = (next: readonly string[]) =>
    void navigate({ search: (before) => ({ ...before, runs: [...next] }), replace: true })
  return (
    <div className={styles.runs}>
      <div className={styles.list} role="list" aria-label="Runs">
        {runs.map(({ run, label }, index) => {
          const others = ids.filter((id) => id !== run.id)
          const name = `${label}, ${formatTime(new Date(run.startedAt))}`
          return (
            <div key={run.id} role="listitem" className={styles.run}>
              <div className={styles.head}>
                <RunMark index={index} />
                <TextLink
                  isQuiet
                  className={styles.name}
                  to="/$entity/$project/traces/$trace"
                  params={{ ...project.params, trace: run.traceId }}
                  title={run.title ?? label}
                >
                  {label}
                </TextLink>
                {index === 0 && <Tag>baseline</Tag>}
                {run.status !== "ok" && <Status of={run.status} />}
                <span className={styles.tools}>
                  {index > 0 && (
                    <Button
                      size="small"
                      kind="quiet"
                      icon={Flag}
                      aria-label={`Make ${name} the baseline`}
                      title="Make it the baseline"
                      onClick={() => setRuns([run.id, ...others])}
                    />
                  )}
                  <Button
                    size="small"
                    kind="quiet"
                    icon={X}
                    aria-label={`Leave out ${name}`}
                    title="Leave it out"
                    onClick={() => setRuns(others)}
                  />
                </span>
              </div>
              <p className={styles.note}>
                <Time at={run.startedAt} /> · {rowWords(rows[index])}
                {run.endedAt !== null &&
                  ` · took ${formatDuration(Date.parse(run.endedAt) - Date.parse(run.startedAt))}`}
              </p>
            </div>
          )
        })}
      </div>
      {runs.length > 0 && runs.length < mostRuns && (
        <div className={styles.add}>
          <AddRun project={project} runs={runs} onAdd={(id) => setRuns([...ids, id])} />
        </div>
      )}
    </div>
  )
}

function rowWords(rows: RunRows | undefined): string {
  if (rows === undefined) return "reading rows"
  return counted(rows.total, "row")
}

interface AddRunProps {
  project: CurrentProject
  runs: readonly ComparedRun[]
  onAdd: (id: string) => void
}

/** Another one of the same evaluation. */
function AddRun({ project, runs, onAdd }: AddRunProps) {
  const first = runs[0]?.run
  const found = useEvalRuns(
    project.id,
    first === undefined || first.evaluationRef === null ? undefined : first.evaluation,
  )
  const others = (found.data ?? []).filter(({ id }) => runs.every(({ run }) => run.id !== id))
  if (others.length === 0) return null
  return (
    <SelectField label="Add a run" isLabelHidden value="" onChange={({ target }) => onAdd(target.value)}>
      <option value="">Add a run…</option>
      {others.map(({ id, model, startedAt }) => (
        <option key={id} value={id}>
          {model}, {formatTime(new Date(startedAt))}
        </option>
      ))}
    </SelectField>
  )
}
