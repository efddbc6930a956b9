/** Several runs of the wandb client on the same charts, with what differs in their configs and what each came to. */
import { getRouteApi } from "@tanstack/react-router"
import { type OneRun, useRunsNamed } from "../../../../api/runs/runs.ts"
import { LinkButton } from "../../../../components/controls/button.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Split } from "../../../../components/layout/split.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { Note } from "../../../../components/states/note.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { counted } from "../../../../format/counted.ts"
import { type CurrentProject, useProjectOfPage } from "../../../../shell/current-project.ts"
import { idle, underWay } from "../../training/live.ts"
import { RunCurves } from "../curves/run-curves.tsx"
import { isUnderWay } from "../run-state.tsx"
import { metricDefinitions } from "../run-values.ts"
import { ComparedHeads } from "./compared-heads.tsx"
import { ComparedValues } from "./compared-values.tsx"
import styles from "./run-comparison-page.module.css"
import { comparedRuns, mostRuns } from "./run-looks.ts"

const route = getRouteApi("/signed-in/$entity/$project/run-comparison")

const intervalOf = (runs: readonly OneRun[]) => (runs.some(isUnderWay) ? underWay : idle).refetchInterval

export function RunComparisonPage() {
  const project = useProjectOfPage()
  const { runs: requested = [] } = route.useSearch()
  const names = [...new Set(requested)]
  const shown = names.slice(0, mostRuns)
  const query = useRunsNamed(project.params, shown, intervalOf)
  const count = query.data?.length ?? shown.length
  return (
    <>
      <PageBar
        title={shown.length === 0 ? "Compare runs" : `${counted(count, "run")} compared`}
        crumb={
          <TextLink isQuiet to="/$entity/$project/runs" params={project.params}>
            Runs
          </TextLink>
        }
      />
      <div className={styles.page}>
        {names.length > mostRuns && (
          <div className={styles.note}>
            <Note title={`At most ${mostRuns} runs are compared: more lines could not be told apart.`}>
              The first {mostRuns} are shown; {counted(names.length - mostRuns, "run is", "runs are")} left out.
            </Note>
          </div>
        )}
        {shown.length === 0 ? (
          <NothingChosen project={project} />
        ) : (
          <Loaded query={query} what="runs">
            {(runs) => <Comparison project={project} names={shown} runs={runs} isOfOthers={query.isPlaceholderData} />}
          </Loaded>
        )}
      </div>
    </>
  )
}

interface ComparisonProps {
  project: CurrentProject
  names: readonly string[]
  runs: readonly OneRun[]
  /** The runs are those of other names, from before; these are being read. */
  isOfOthers: boolean
}

function Comparison({ project, names, runs, isOfOthers }: ComparisonProps) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const missing = isOfOthers ? [] : names.filter((name) => runs.every((run) => run.name !== name))
  const compared = comparedRuns(project, runs)
  const definitions = runs.map(({ config }) => metricDefinitions(config))
  return (
    <>
      {missing.length > 0 && (
        <div className={styles.note}>
          <Note kind="warn" title={missing.length === 1 ? "A run is not there." : "Some runs are not there."}>
            There is no run {missing.join(", ")} in {project.id}: it was deleted or never made.
          </Note>
        </div>
      )}
      {runs.length === 0 ? (
        <NothingChosen project={project} />
      ) : (
        <>
          <ComparedHeads project={project} runs={compared} names={names.filter((name) => !missing.includes(name))} />
          <Split
            label="Width of the curves"
            name="run-comparison"
            start={58}
            first={
              <div className={styles.curves}>
                <RunCurves
                  runs={compared}
                  // Lines of one chart share an axis: that of the first run that defined one.
                  definitions={{
                    axisOf: (metric) => definitions.map(({ axisOf }) => axisOf(metric)).find((axis) => axis),
                    isHidden: (metric) => definitions.some(({ isHidden }) => isHidden(metric)),
                  }}
                  search={search}
                  onChange={(changes) =>
                    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
                  }
                  none={
                    <Empty title="Nothing logged yet">
                      None of them has logged a number with <code>run.log</code>.
                    </Empty>
                  }
                />
              </div>
            }
            second={<ComparedValues runs={compared} />}
          />
        </>
      )}
    </>
  )
}

function NothingChosen({ project }: { project: CurrentProject }) {
  return (
    <Empty
      title="Choose runs to compare"
      actions={
        <LinkButton kind="primary" to="/$entity/$project/runs" params={project.params}>
          All runs
        </LinkButton>
      }
    >
      Tick them in the list of runs, up to {mostRuns}, then press <code>c</code>.
    </Empty>
  )
}
