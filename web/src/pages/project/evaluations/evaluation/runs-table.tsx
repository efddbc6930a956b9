/** The runs of an evaluation with every metric; sorted, they are its leaderboard. Those that are ticked are compared. */
import { getRouteApi } from "@tanstack/react-router"
import { useState } from "react"
import { StatusIcon } from "../../../../components/signs/status.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import type { Column } from "../../../../components/data-table/columns.ts"
import { DataTable } from "../../../../components/data-table/data-table.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import type { EvalRun } from "../../../../evaluations/eval-run.ts"
import { betterDirection, type Metric, price, pricedAnswers, sortedMetrics } from "../../../../evaluations/metrics.ts"
import { runFigure } from "../../../../evaluations/run-figures.ts"
import { type RunRows, rowValues } from "../../../../evaluations/run-rows.ts"
import { formatDuration } from "../../../../format/durations.ts"
import { formatMoney } from "../../../../format/money.ts"
import { formatAtLeast, formatCount } from "../../../../format/numbers.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { useMedia } from "../../../../shell/use-media.ts"
import { ScoreValue } from "../score-value.tsx"
import styles from "./runs-table.module.css"

const route = getRouteApi("/signed-in/$entity/$project/evaluations/$name")

export interface RunRow {
  run: EvalRun
  label: string
  /** "questions v1"; null: not known, or none. */
  dataset: string | null
  /** undefined: not read yet. */
  rows: RunRows | undefined
}

/** Every metric that one of the runs has. */
export function metricsOf(runs: readonly RunRow[]): Metric[] {
  const all = runs.flatMap(({ rows }) => rows?.metrics ?? [])
  return sortedMetrics(new Map(all.map((metric) => [metric.id, metric])).values())
}

interface RunsTableProps {
  project: CurrentProject
  name: string
  /** The newest first. */
  runs: readonly RunRow[]
}

export function RunsTable({ project, name, runs }: RunsTableProps) {
  const { sort, up = false, runs: chosen = [] } = route.useSearch()
  const navigate = route.useNavigate()
  const metrics = metricsOf(runs)
  const sortMetric = metrics.find(({ id }) => id === sort)
  const [current, setCurrent] = useState<number | null>(null)
  const isNarrow = useMedia("(max-width: 699px)")
  const rows = sortMetric === undefined ? runs : sortedRuns(runs, sortMetric, up)
  return (
    <DataTable
      label={`Runs of ${name}`}
      name="evaluation-runs"
      columns={columnsOf(project, metrics)}
      count={rows.length}
      rowAt={(index) => rows[index]}
      idOf={({ run }) => run.id}
      rowState={({ run }) => (run.status === "running" ? "running" : run.status === "error" ? "failed" : undefined)}
      sort={sortMetric === undefined ? null : { column: sortMetric.id, direction: up ? "asc" : "desc" }}
      onSort={({ column, direction }) =>
        void navigate({ search: (before) => ({ ...before, sort: column, up: direction === "asc" }), replace: true })
      }
      current={current}
      onCurrent={setCurrent}
      onOpen={({ run }) =>
        void navigate({
          to: "/$entity/$project/traces/$trace",
          params: { ...project.params, trace: run.traceId },
        })
      }
      rowHeight={isNarrow ? 44 : 28}
      {...(isNarrow
        ? {}
        : {
            selection: new Set(chosen),
            onSelect: (ids) => void navigate({ search: (before) => ({ ...before, runs: [...ids] }), replace: true }),
          })}
    />
  )
}

function sortedRuns(runs: readonly RunRow[], metric: Metric, isUp: boolean): RunRow[] {
  const keyed = runs.map((run) => ({
    run,
    mean: run.rows === undefined ? undefined : runFigure(run.rows, metric)?.mean,
  }))
  // Runs without the value are last, whichever way.
  const last = isUp ? Infinity : -Infinity
  return keyed.toSorted((a, b) => ((a.mean ?? last) - (b.mean ?? last) || 0) * (isUp ? 1 : -1)).map(({ run }) => run)
}

function columnsOf(project: CurrentProject, metrics: readonly Metric[]): Column<RunRow>[] {
  return [
    {
      id: "run",
      title: "Run",
      width: 176,
      cell: ({ run, label }) => <RunName project={project} run={run} label={label} />,
    },
    { id: "started", title: "Started", width: 104, cell: ({ run }) => <Time at={run.startedAt} /> },
    {
      id: "dataset",
      title: "Dataset",
      width: 136,
      cell: ({ dataset }) => (
        <span className={styles.dataset} title={dataset ?? undefined}>
          {dataset}
        </span>
      ),
    },
    ...metrics.map((metric): Column<RunRow> => ({
      id: metric.id,
      title: metric.name,
      unit: betterDirection(metric, []) === "up" ? "↑" : "↓",
      // Small amounts have more decimals than other intervals.
      width: metric.id === price.id ? 208 : 172,
      isSortable: true,
      cell: ({ rows }) => rows && <ScoreValue figure={runFigure(rows, metric)} />,
    })),
    { id: "total", title: "Cost of all", width: 92, isNumber: true, cell: ({ rows }) => rows && totalCost(rows) },
    { id: "rows", title: "Rows", width: 64, isNumber: true, cell: ({ rows }) => rows && formatCount(rows.total) },
    { id: "trials", title: "Trials", width: 64, isNumber: true, cell: ({ rows }) => rows && trialCount(rows) },
    { id: "took", title: "Took", width: 84, isNumber: true, cell: ({ run }) => duration(run) },
  ]
}

function RunName({ project, run, label }: { project: CurrentProject; run: EvalRun; label: string }) {
  return (
    <span className={styles.run}>
      <StatusIcon of={run.status} name={run.status} />
      <TextLink
        isQuiet
        to="/$entity/$project/traces/$trace"
        params={{ ...project.params, trace: run.traceId }}
        title={[label, run.title, run.exception].filter((part) => part !== null).join("\n")}
      >
        {label}
      </TextLink>
    </span>
  )
}

/** Total of the rows that have a price. */
function totalCost(rows: RunRows): string {
  const costs = rowValues(rows, price.id)
  if (costs.length === 0) return formatMoney(null)
  let sum = 0
  for (const trials of rows.rows.values()) for (const { values } of trials) sum += values.get(price.id) ?? 0
  return formatMoney(sum / pricedAnswers)
}

function trialCount({ rows, total }: RunRows): string {
  let count = 0
  for (const trials of rows.values()) count += trials.length
  return formatAtLeast(count, rows.size === total)
}

function duration({ startedAt, endedAt }: EvalRun): string {
  return endedAt === null ? "" : formatDuration(Date.parse(endedAt) - Date.parse(startedAt))
}
