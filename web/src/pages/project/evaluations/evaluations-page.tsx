/** The evaluations of a project, the one with the newest run first: which model ran last, and what it scored. */
import { useEvalRuns, useObjectVersions, useRunRows } from "../../../api/evaluations/evaluations.ts"
import { LinkButton } from "../../../components/controls/button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { PlainTable } from "../../../components/layout/plain-table.tsx"
import { StatusIcon } from "../../../components/signs/status.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import type { EvalRun } from "../../../evaluations/eval-run.ts"
import { sortedMetrics } from "../../../evaluations/metrics.ts"
import { runFigure } from "../../../evaluations/run-figures.ts"
import { type KnownVersion, objectNames, runLabel } from "../../../evaluations/run-labels.ts"
import { formatAtLeast } from "../../../format/numbers.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import { MoreRows } from "../training/more-rows.tsx"
import styles from "./evaluations-page.module.css"
import { NoEvaluations } from "./no-evaluations.tsx"
import { ScoreValue } from "./score-value.tsx"

/** A row shows this many scores; the page of the evaluation has all. */
const mostScores = 3

const heads = [
  { name: "Evaluation", className: styles.name },
  { name: "Runs", className: styles.count },
  { name: "Newest run", className: styles.run },
  { name: "Scores of it, with 95 % interval", className: styles.scores },
  { name: "Started", className: styles.time },
  { name: "Compare", className: styles.compare },
]

export function EvaluationsPage() {
  const project = useProjectOfPage()
  const runs = useEvalRuns(project.id)
  const all = runs.data ?? []
  const evaluations = Map.groupBy(all, ({ evaluation }) => evaluation)
  const newest = [...evaluations.values()].flatMap(([run]) => run ?? [])
  const names = objectNames(
    project.id,
    newest.map(({ modelRef }) => modelRef),
  )
  const versions = useObjectVersions(project.id, names).data ?? []
  return (
    <>
      <PageBar title="Evaluations" />
      <div className={styles.list}>
        <Loaded query={runs} what="evaluations">
          {() =>
            all.length === 0 ? (
              <NoEvaluations project={project} />
            ) : (
              <PlainTable label="Evaluations" heads={heads}>
                {Array.from(evaluations, ([name, ofName]) => (
                  <EvaluationRow
                    key={name}
                    project={project}
                    name={name}
                    runs={ofName}
                    isWhole={!runs.hasNextPage}
                    versions={versions}
                  />
                ))}
              </PlainTable>
            )
          }
        </Loaded>
        <MoreRows what="evaluations" query={runs} />
      </div>
    </>
  )
}

interface EvaluationRowProps {
  project: CurrentProject
  name: string
  /** The newest first. */
  runs: readonly EvalRun[]
  isWhole: boolean
  versions: readonly KnownVersion[]
}

function EvaluationRow({ project, name, runs, isWhole, versions }: EvaluationRowProps) {
  const [newest, before] = runs
  if (newest === undefined) return null
  const { params } = project
  return (
    <tr className={styles.row}>
      <td className={styles.name}>
        {newest.evaluationRef === null ? (
          <span className={styles.note}>{name}</span>
        ) : (
          <TextLink isQuiet to="/$entity/$project/evaluations/$name" params={{ ...params, name }}>
            {name}
          </TextLink>
        )}
      </td>
      <td className={styles.count}>{formatAtLeast(runs.length, isWhole)}</td>
      <td className={styles.run}>
        <StatusIcon of={newest.status} name={newest.status} /> {runLabel(newest, versions)}
      </td>
      <td className={styles.scores}>
        <Scores project={project} run={newest} />
      </td>
      <td className={styles.time}>
        <Time at={newest.startedAt} />
      </td>
      <td className={styles.compare}>
        {before !== undefined && (
          <LinkButton
            size="small"
            to="/$entity/$project/compare"
            params={params}
            search={{ runs: [before.id, newest.id] }}
            aria-label={`Compare with the run before: ${name}`}
          >
            Compare with the run before
          </LinkButton>
        )}
      </td>
    </tr>
  )
}

function Scores({ project, run }: { project: CurrentProject; run: EvalRun }) {
  const [query] = useRunRows(project.id, [run])
  if (query?.error) return <span className={styles.note}>not readable: {query.error.message}</span>
  if (query?.data === undefined) return <span className={styles.note}>reading…</span>
  const { data } = query
  const scores = sortedMetrics(data.metrics).filter(({ isMeasured }) => !isMeasured)
  if (scores.length === 0) return <span className={styles.note}>no scores</span>
  return (
    <span className={styles.values}>
      {scores.slice(0, mostScores).map((metric) => (
        <ScoreValue key={metric.id} figure={runFigure(data, metric)} isNamed />
      ))}
      {scores.length > mostScores && <span className={styles.note}>{scores.length - mostScores} more</span>}
    </span>
  )
}
