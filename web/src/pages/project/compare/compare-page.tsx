/** Runs of evaluations side by side against a baseline: what changed, how sure that is, and in which rows. */
import { getRouteApi } from "@tanstack/react-router"
import { ArrowLeftRight } from "lucide-react"
import { useObjectVersions, useRunRows, useRunsOf } from "../../../api/evaluations/evaluations.ts"
import { Button } from "../../../components/controls/button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { Note } from "../../../components/states/note.tsx"
import { SkeletonRows } from "../../../components/states/skeleton.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import type { EvalRun } from "../../../evaluations/eval-run.ts"
import { objectNames, runLabel } from "../../../evaluations/run-labels.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import type { ComparedRun } from "./compared-run.ts"
import { Comparison } from "./comparison.tsx"
import styles from "./compare-page.module.css"
import { NothingToCompare } from "./nothing-to-compare.tsx"
import { RunHeads } from "./run-heads.tsx"

const route = getRouteApi("/signed-in/$entity/$project/compare")

/** A baseline and as many as there are colours besides. */
const mostRuns = 6

export function ComparePage() {
  const project = useProjectOfPage()
  const { runs: requestedIds = [] } = route.useSearch()
  const ids = [...new Set(requestedIds)].slice(0, mostRuns)
  const navigate = route.useNavigate()
  const found = useRunsOf(project.id, ids)
  const runs = found.data ?? []
  const names = objectNames(
    project.id,
    runs.map(({ modelRef }) => modelRef),
  )
  const versions = useObjectVersions(project.id, names).data ?? []
  const compared = runs.map((run): ComparedRun => ({ run, label: runLabel(run, versions) }))
  const [baseline, candidate] = compared
  const swap = () =>
    void navigate({
      search: (before) => ({ ...before, runs: [ids[1] ?? "", ids[0] ?? "", ...ids.slice(2)] }),
      replace: true,
    })
  return (
    <>
      <PageBar
        title={baseline && candidate ? `${candidate.label} against ${baseline.label}` : "Compare runs"}
        crumb={<Crumb project={project} runs={runs} />}
        actions={
          baseline &&
          candidate && (
            <Button icon={ArrowLeftRight} onClick={swap}>
              Swap
            </Button>
          )
        }
      />
      {ids.length === 0 ? (
        <NothingToCompare project={project} baseline={null} />
      ) : (
        <Loaded query={found} what="runs">
          {() => <RunComparison key={ids.join()} project={project} requestedIds={ids} runs={compared} />}
        </Loaded>
      )}
    </>
  )
}

function Crumb({ project, runs }: { project: CurrentProject; runs: readonly EvalRun[] }) {
  const { params } = project
  const names = new Set(runs.map(({ evaluation }) => evaluation))
  const [name] = names
  return names.size === 1 && name !== undefined ? (
    <TextLink isQuiet to="/$entity/$project/evaluations/$name" params={{ ...params, name }}>
      {name}
    </TextLink>
  ) : (
    <TextLink isQuiet to="/$entity/$project/evaluations" params={params}>
      Evaluations
    </TextLink>
  )
}

interface RunComparisonProps {
  project: CurrentProject
  requestedIds: readonly string[]
  runs: readonly ComparedRun[]
}

function RunComparison({ project, requestedIds, runs }: RunComparisonProps) {
  const read = useRunRows(
    project.id,
    runs.map(({ run }) => run),
  )
  const missing = requestedIds.filter((id) => runs.every(({ run }) => run.id !== id))
  const failed = read.find(({ error }) => error !== null)
  const rows = read.flatMap(({ data }) => data ?? [])
  const [baseline] = runs
  return (
    <div className={styles.page}>
      {missing.length > 0 && (
        <div className={styles.note}>
          <Note kind="warn" title={missing.length === 1 ? "A run is not there." : "Some runs are not there."}>
            No run of this project has the id {missing.join(", ")}: it was deleted, or the address is not whole.
          </Note>
        </div>
      )}
      {failed?.error && (
        <div className={styles.note}>
          <ErrorNote
            what="The rows of a run could not be read."
            error={failed.error}
            onRetry={() => void failed.refetch()}
          />
        </div>
      )}
      <RunHeads project={project} runs={runs} rows={read.map(({ data }) => data)} mostRuns={mostRuns} />
      {baseline !== undefined && runs.length < 2 ? (
        <NothingToCompare project={project} baseline={baseline.run} />
      ) : rows.length === runs.length ? (
        runs.length >= 2 && <Comparison project={project} runs={runs} rows={rows} />
      ) : (
        failed === undefined && <SkeletonRows what="Reading rows" />
      )}
    </div>
  )
}
