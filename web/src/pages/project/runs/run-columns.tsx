/** The columns of a table of runs: what every run has, and any value of its config and of its summary. */
import { Fragment } from "react"
import type { ListedRun } from "../../../api/runs/run-list.ts"
import type { Column } from "../../../components/data-table/columns.ts"
import { Time } from "../../../components/signs/time.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { formatDuration } from "../../../format/durations.ts"
import { formatExact, formatNumber } from "../../../format/numbers.ts"
import { valueText } from "../../../json/value-text.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { isConfigPath, isPath, isSortable, type RunFilter } from "./run-selection.ts"
import { RunState } from "./run-state.tsx"
import { configText, lastStep, memberNumber, summaryNumbers, summaryText, valuesByPath } from "./run-values.ts"
import { loggedName } from "../training/logged-list.tsx"

export interface RunRow {
  run: ListedRun
  /** JSON texts by path: `config.optimizer.lr`, `summary.val/loss`. */
  values: ReadonlyMap<string, string>
}

export function runRow(run: ListedRun): RunRow {
  const config = run.config === undefined ? "{}" : configText(run.config)
  const values = [...valuesByPath(config, "config."), ...valuesByPath(summaryText(run.summaryMetrics), "summary.")]
  return { run, values: new Map(values) }
}

/** Values of summaries that have a column unless somebody chooses. */
const mostMetrics = 12

/** What only some programs say, where one of the runs says it. */
const belongings: readonly { id: string; isSaid: (run: ListedRun) => boolean }[] = [
  { id: "group", isSaid: ({ group }) => Boolean(group) },
  { id: "type", isSaid: ({ jobType }) => Boolean(jobType) },
  { id: "tags", isSaid: ({ tags }) => tags.length > 0 },
]

/** Ids of the columns that are shown unless somebody chooses; what they are sorted by is one of them. */
export function usualRunColumns(runs: readonly ListedRun[], sorted: string | undefined): string[] {
  const named = new Set(runs.flatMap((run) => summaryNumbers(run.summaryMetrics).map(({ name }) => `summary.${name}`)))
  const metrics = new Set([...(sorted !== undefined && isPath(sorted) ? [sorted] : []), ...[...named].toSorted()])
  return [
    "state",
    "run",
    "created",
    "step",
    ...belongings.filter(({ isSaid }) => runs.some(isSaid)).map(({ id }) => id),
    ...[...metrics].slice(0, mostMetrics),
    ...(runs.some(({ notes }) => notes) ? ["notes"] : []),
  ]
}

/** A run logs for as long as it says; the client adds that to every row. */
const runtimeOf = ({ summaryMetrics }: ListedRun) => memberNumber(summaryMetrics, "_runtime")

export function runColumns(project: CurrentProject): Column<RunRow>[] {
  return [
    { id: "state", title: "State", width: 100, cell: ({ run }) => <RunState of={run.state} /> },
    {
      id: "run",
      title: "Run",
      width: 200,
      cell: ({ run }) => (
        <TextLink
          isQuiet
          className={loggedName}
          to="/$entity/$project/runs/$name"
          params={{ ...project.params, name: run.name }}
          title={[...new Set([run.displayName || run.name, run.name])].join("\n")}
        >
          {run.displayName || run.name}
        </TextLink>
      ),
    },
    { id: "created", title: "Created", width: 92, isSortable: true, cell: ({ run }) => <Time at={run.createdAt} /> },
    {
      id: "took",
      title: "Took",
      width: 84,
      isNumber: true,
      cell: ({ run }) => {
        const seconds = runtimeOf(run)
        return seconds === null ? "" : formatDuration(seconds * 1000)
      },
    },
    {
      id: "step",
      title: "Last step",
      width: 76,
      isNumber: true,
      cell: ({ run }) => lastStep(run.summaryMetrics) ?? "–",
    },
    {
      id: "group",
      title: "Group",
      width: 104,
      cell: ({ run: { group } }) => group && <FilterLink filter={{ group }} value={group} />,
    },
    {
      id: "type",
      title: "Job type",
      width: 84,
      cell: ({ run: { jobType: type } }) => type && <FilterLink filter={{ type }} value={type} />,
    },
    {
      id: "tags",
      title: "Tags",
      width: 112,
      cell: ({ run }) => (
        <span title={run.tags.join(", ")}>
          {run.tags.map((tag) => (
            <Fragment key={tag}>
              <FilterLink filter={{ tag }} value={tag} />{" "}
            </Fragment>
          ))}
        </span>
      ),
    },
    {
      id: "notes",
      title: "Notes",
      width: 240,
      grows: 1,
      cell: ({ run }) => <span title={run.notes ?? undefined}>{run.notes}</span>,
    },
    { id: "id", title: "Id", width: 112, cell: ({ run }) => <span title={run.name}>{run.name}</span> },
  ]
}

/** Values of configs are settings, and stand as they were written; those of summaries are measured. */
export function valueColumn(path: string, rows: readonly RunRow[]): Column<RunRow> {
  const isConfig = isConfigPath(path)
  const title = isConfig ? path : path.replace("summary.", "")
  return {
    id: path,
    title,
    width: Math.min(200, Math.max(88, 24 + title.length * 7)),
    isNumber: rows.every(({ values }) => isNumber(values.get(path) ?? "0")),
    isSortable: isSortable(path),
    cell: ({ values }) => <Value text={values.get(path)} isMeasured={!isConfig} />,
  }
}

const isNumber = (text: string) => /^-?\d/.test(text)

function Value({ text, isMeasured }: { text: string | undefined; isMeasured: boolean }) {
  if (text === undefined) return ""
  if (isMeasured && isNumber(text)) {
    return <span title={formatExact(Number(text))}>{formatNumber(Number(text))}</span>
  }
  const words = valueText(text)
  return <span title={words}>{words}</span>
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
