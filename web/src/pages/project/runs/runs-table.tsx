/** Runs as rows: their state, where they belong, and the numbers of their summaries. Those that are ticked are compared. */
import { getRouteApi } from "@tanstack/react-router"
import { useState } from "react"
import type { ListedRun } from "../../../api/runs/run-list.ts"
import type { Column } from "../../../components/data-table/columns.ts"
import { DataTable } from "../../../components/data-table/data-table.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { formatExact, formatNumber } from "../../../format/numbers.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { isSortable, type RunFilter } from "./run-selection.ts"
import { RunState } from "./run-state.tsx"
import { lastStep, type SummaryNumber, summaryNumbers } from "./run-values.ts"
import styles from "./runs-page.module.css"

const route = getRouteApi("/signed-in/$entity/$project/runs")

/** Values of summaries that have a column. */
const mostColumns = 12
const rowHeight = 32

interface RunRow {
  run: ListedRun
  numbers: readonly SummaryNumber[]
}

export function RunsTable({ project, runs }: { project: CurrentProject; runs: readonly ListedRun[] }) {
  const { sort, up = false, runs: chosen = [] } = route.useSearch()
  const navigate = route.useNavigate()
  const [current, setCurrent] = useState<number | null>(null)
  const rows = runs.map((run): RunRow => ({ run, numbers: summaryNumbers(run.summaryMetrics) }))
  const named = new Set(rows.flatMap(({ numbers }) => numbers.map(({ name }) => name)))
  // What they are sorted by has a column, however many there are.
  const metrics = new Set([...(sort === undefined || sort === "created" ? [] : [sort]), ...[...named].toSorted()])
  return (
    <DataTable
      label="Runs"
      name="runs"
      columns={columnsOf(project, runs, [...metrics].slice(0, mostColumns))}
      count={rows.length}
      rowAt={(index) => rows[index]}
      idOf={({ run }) => run.name}
      rowHeight={rowHeight}
      sort={sort === undefined ? null : { column: sort, direction: up ? "asc" : "desc" }}
      onSort={({ column, direction }) =>
        void navigate({ search: (before) => ({ ...before, sort: column, up: direction === "asc" }), replace: true })
      }
      current={current}
      onCurrent={setCurrent}
      onOpen={({ run }) =>
        void navigate({ to: "/$entity/$project/runs/$name", params: { ...project.params, name: run.name } })
      }
      selection={new Set(chosen)}
      onSelect={(names) => void navigate({ search: (before) => ({ ...before, runs: [...names] }), replace: true })}
    />
  )
}

function columnsOf(project: CurrentProject, runs: readonly ListedRun[], metrics: readonly string[]): Column<RunRow>[] {
  return [
    { id: "state", title: "State", width: 100, cell: ({ run }) => <RunState of={run.state} /> },
    {
      id: "run",
      title: "Run",
      width: 200,
      cell: ({ run }) => (
        <TextLink
          isQuiet
          className={styles.title}
          to="/$entity/$project/runs/$name"
          params={{ ...project.params, name: run.name }}
          title={run.name}
        >
          {run.displayName || run.name}
        </TextLink>
      ),
    },
    { id: "created", title: "Created", width: 92, isSortable: true, cell: ({ run }) => <Time at={run.createdAt} /> },
    {
      id: "step",
      title: "Last step",
      width: 76,
      isNumber: true,
      cell: ({ run }) => lastStep(run.summaryMetrics) ?? "–",
    },
    ...belongings(runs),
    ...metrics.map((metric): Column<RunRow> => ({
      id: metric,
      title: metric,
      width: Math.min(200, Math.max(88, 24 + metric.length * 7)),
      isNumber: true,
      isSortable: isSortable(metric),
      cell: ({ numbers }) => <SummaryCell value={numbers.find(({ name }) => name === metric)?.value} />,
    })),
    ...(runs.some(({ notes }) => notes) ? [notesColumn] : []),
  ]
}

const notesColumn: Column<RunRow> = {
  id: "notes",
  title: "Notes",
  width: 240,
  cell: ({ run }) => <span title={run.notes ?? undefined}>{run.notes}</span>,
}

/** Columns of what only some programs say, where one of the runs says it. */
function belongings(runs: readonly ListedRun[]): Column<RunRow>[] {
  const columns: (Column<RunRow> & { has: (run: ListedRun) => unknown })[] = [
    {
      id: "group",
      title: "Group",
      width: 104,
      has: ({ group }) => group,
      cell: ({ run: { group } }) => group && <FilterLink filter={{ group }} value={group} />,
    },
    {
      id: "type",
      title: "Job type",
      width: 84,
      has: ({ jobType }) => jobType,
      cell: ({ run: { jobType: type } }) => type && <FilterLink filter={{ type }} value={type} />,
    },
    {
      id: "tags",
      title: "Tags",
      width: 112,
      has: ({ tags }) => tags.length > 0,
      cell: ({ run }) => (
        <span className={styles.tags}>
          {run.tags.map((tag) => (
            <FilterLink key={tag} filter={{ tag }} value={tag} />
          ))}
        </span>
      ),
    },
  ]
  return columns.filter(({ has }) => runs.some(has))
}

interface FilterLinkProps {
  filter: RunFilter
  value: string
}

/** Leads to the runs that have the value too. */
function FilterLink({ filter, value }: FilterLinkProps) {
  return (
    <TextLink
      isQuiet
      from="/$entity/$project/runs"
      to="."
      search={(before) => ({ ...before, ...filter })}
      title={`Only runs with ${value}`}
    >
      {value}
    </TextLink>
  )
}

function SummaryCell({ value }: { value: number | undefined }) {
  return value === undefined ? "" : <span title={formatExact(value)}>{formatNumber(value)}</span>
}
