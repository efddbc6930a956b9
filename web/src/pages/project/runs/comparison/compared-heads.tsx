/** The runs that are compared, each with the look of its lines; others can be added. */
import { getRouteApi } from "@tanstack/react-router"
import { X } from "lucide-react"
import { useRunPages } from "../../../../api/runs/run-list.ts"
import { LineMark } from "../../../../components/charts/line-chart.tsx"
import { Button } from "../../../../components/controls/button.tsx"
import { SelectField } from "../../../../components/controls/field.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { RunState } from "../run-state.tsx"
import styles from "./compared-heads.module.css"
import { type ComparedRun, mostRuns } from "./run-looks.ts"

const route = getRouteApi("/signed-in/$entity/$project/run-comparison")

interface ComparedHeadsProps {
  project: CurrentProject
  runs: readonly ComparedRun[]
  /** Of those that are to be compared, also while some of them are being read. */
  names: readonly string[]
}

export function ComparedHeads({ project, runs, names }: ComparedHeadsProps) {
  const navigate = route.useNavigate()
  const setRuns = (next: readonly string[]) =>
    void navigate({ search: (before) => ({ ...before, runs: [...next] }), replace: true })
  return (
    <div className={styles.runs}>
      <div className={styles.list} role="list" aria-label="Runs">
        {runs.map(({ run, name, color, isDashed }) => (
          <div key={run.name} role="listitem" className={styles.run}>
            <div className={styles.head}>
              <LineMark color={color} isDashed={isDashed} />
              <TextLink
                isQuiet
                className={styles.name}
                to="/$entity/$project/runs/$name"
                params={{ ...project.params, name: run.name }}
                title={run.name}
              >
                {name}
              </TextLink>
              {names.length > 1 && (
                <Button
                  size="small"
                  kind="quiet"
                  icon={X}
                  aria-label={`Leave out ${name}`}
                  title="Leave it out"
                  onClick={() => setRuns(names.filter((one) => one !== run.name))}
                />
              )}
            </div>
            <p className={styles.note}>
              <RunState of={run.state} /> <Time at={run.createdAt} />
            </p>
          </div>
        ))}
      </div>
      {names.length < mostRuns && (
        <div className={styles.add}>
          <AddRun project={project} names={names} onAdd={(name) => setRuns([...names, name])} />
        </div>
      )}
    </div>
  )
}

interface AddRunProps {
  project: CurrentProject
  names: readonly string[]
  onAdd: (name: string) => void
}

/** Another one of the newest. */
function AddRun({ project, names, onAdd }: AddRunProps) {
  const found = useRunPages(project.params)
  const others = (found.data ?? []).filter(({ name }) => !names.includes(name))
  if (others.length === 0) return null
  return (
    <SelectField label="Add a run" isLabelHidden value="" onChange={({ target }) => onAdd(target.value)}>
      <option value="">Add a run…</option>
      {others.map(({ name, displayName }) => (
        <option key={name} value={name}>
          {displayName || name}
        </option>
      ))}
    </SelectField>
  )
}
