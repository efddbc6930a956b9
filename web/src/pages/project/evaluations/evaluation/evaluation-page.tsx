/** One evaluation: its runs with their scores, costs and latency, and one metric over time. */
import { getRouteApi } from "@tanstack/react-router"
import { GitCompareArrows, Zap } from "lucide-react"
import { useEvalRuns, useObjectVersions, useRunRows } from "../../../../api/evaluations/evaluations.ts"
import { LinkButton } from "../../../../components/controls/button.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import type { EvalRun } from "../../../../evaluations/eval-run.ts"
import { objectNames, runLabel } from "../../../../evaluations/run-labels.ts"
import { useKeys } from "../../../../keys/use-keys.ts"
import { type CurrentProject, useProjectOfPage } from "../../../../shell/current-project.ts"
import { MoreRows } from "../../training/more-rows.tsx"
import styles from "./evaluation-page.module.css"
import { RunsChart } from "./runs-chart.tsx"
import { RunsTable, type RunRow } from "./runs-table.tsx"
import { useDatasets } from "./use-datasets.ts"

const route = getRouteApi("/signed-in/$entity/$project/evaluations/$name")

/** Runs whose rows are read; their scores are made of them. */
const mostRead = 40
/** More beside each other could not be told apart. */
const mostCompared = 6

export function EvaluationPage() {
  const project = useProjectOfPage()
  const { name } = route.useParams()
  // Another evaluation is another page: nothing of the first stays.
  return <OneEvaluation key={`${project.id}/${name}`} project={project} name={name} />
}

function OneEvaluation({ project, name }: { project: CurrentProject; name: string }) {
  const runs = useEvalRuns(project.id, name)
  const { params } = project
  return (
    <>
      <PageBar
        title={name}
        crumb={
          <TextLink isQuiet to="/$entity/$project/evaluations" params={params}>
            Evaluations
          </TextLink>
        }
        actions={
          <>
            <span className={styles.wideOnly}>
              <TrainLink project={project} runs={runs.data ?? []} />
            </span>
            <CompareLink project={project} runs={runs.data ?? []} />
          </>
        }
      />
      <Loaded query={runs} what="runs">
        {(found) =>
          found.length === 0 ? (
            <Empty
              title="No such evaluation"
              actions={
                <TextLink to="/$entity/$project/evaluations" params={params}>
                  All evaluations
                </TextLink>
              }
            >
              No run of this project is of an evaluation “{name}”.
            </Empty>
          ) : (
            <Runs project={project} name={name} runs={found} />
          )
        }
      </Loaded>
      <MoreRows what="runs" query={runs} />
    </>
  )
}

/** On the trials of the runs that are chosen; else of the newest. */
function TrainLink({ project, runs }: { project: CurrentProject; runs: readonly EvalRun[] }) {
  const { runs: chosen = [] } = route.useSearch()
  const known = runs.filter(({ id }) => chosen.includes(id))
  const trained = known.length > 0 ? known : runs.slice(0, 1)
  if (trained.length === 0) return null
  return (
    <LinkButton
      icon={Zap}
      to="/$entity/$project/train"
      params={project.params}
      search={{ from: "evaluation", runs: trained.map(({ id }) => id) }}
    >
      Train…
    </LinkButton>
  )
}

/** Those that are chosen, the oldest as the baseline; else the newest two. */
function CompareLink({ project, runs }: { project: CurrentProject; runs: readonly EvalRun[] }) {
  const { runs: chosen = [] } = route.useSearch()
  const navigate = route.useNavigate()
  const known = runs.filter(({ id }) => chosen.includes(id))
  const compared = (known.length >= 2 ? known : runs.slice(0, 2)).slice(0, mostCompared).toReversed()
  const to = "/$entity/$project/compare"
  const search = { runs: compared.map(({ id }) => id) }
  useKeys([
    {
      keys: "c",
      label: "compare runs",
      group: "Evaluation",
      run: () => {
        if (compared.length >= 2) void navigate({ to, params: project, search })
      },
    },
  ])
  if (compared.length < 2) return null
  return (
    <LinkButton kind="primary" icon={GitCompareArrows} to={to} params={project.params} search={search}>
      {known.length >= 2 ? `Compare ${compared.length} runs` : "Compare the newest two"}
    </LinkButton>
  )
}

function Runs({ project, name, runs }: { project: CurrentProject; name: string; runs: readonly EvalRun[] }) {
  const names = objectNames(
    project.id,
    runs.map(({ modelRef }) => modelRef),
  )
  const versions = useObjectVersions(project.id, names).data ?? []
  const read = useRunRows(project.id, runs.slice(0, mostRead))
  const datasets = useDatasets(project.id, runs)
  const shown = runs.map((run, index): RunRow => ({
    run,
    label: runLabel(run, versions),
    dataset: datasets[index] ?? null,
    rows: read[index]?.data,
  }))
  const failed = read.find(({ error }) => error !== null)
  return (
    <div className={styles.page}>
      {failed?.error && (
        <div className={styles.error}>
          <ErrorNote
            what="The rows of a run could not be read."
            error={failed.error}
            onRetry={() => void failed.refetch()}
          />
        </div>
      )}
      <RunsChart runs={shown} isReading={read.some(({ isLoading }) => isLoading)} />
      <RunsTable project={project} name={name} runs={shown} />
      {runs.length > mostRead && <p className={styles.note}>Scores are read for the newest {mostRead} runs.</p>}
    </div>
  )
}
