/** A leaderboard: a row for each model, and in each column what the newest run of its evaluation came to. */
import { getRouteApi } from "@tanstack/react-router"
import { Trophy } from "lucide-react"
import { useState } from "react"
import { mostBoardRuns, useBoardRuns, useObjectVersions } from "../../../../api/evaluations/evaluations.ts"
import type { Column } from "../../../../components/data-table/columns.ts"
import { DataTable } from "../../../../components/data-table/data-table.tsx"
import { Icon } from "../../../../components/signs/icon.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import {
  bestOf,
  type BoardCell,
  type BoardColumn,
  type BoardRow,
  boardRows,
  rankedRows,
} from "../../../../evaluations/leaderboard.ts"
import { formatValue } from "../../../../evaluations/metrics.ts"
import { parseObjectRef, refName } from "../../../../evaluations/refs.ts"
import { type KnownVersion, objectNames, runLabel, versionLabel } from "../../../../evaluations/run-labels.ts"
import { formatTime } from "../../../../format/times.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { rowSortOf, rowSortText } from "../version/version-search.ts"
import styles from "./leaderboard.module.css"

const route = getRouteApi("/signed-in/$entity/$project/objects/$name/versions/$version")

const rowHeight = 28
/** More are scrolled to. */
const mostSeen = 20
const scrollBar = 16

interface LeaderboardProps {
  project: CurrentProject
  columns: readonly BoardColumn[]
}

export function Leaderboard({ project, columns }: LeaderboardProps) {
  const refs = [...new Set(columns.map(({ evaluationRef }) => evaluationRef))]
  const runs = useBoardRuns(project.id, refs)
  return (
    <section className={styles.board} aria-label="Leaderboard">
      <Loaded query={runs} what="runs">
        {(calls) => {
          const rows = boardRows(columns, calls)
          return rows.length === 0 ? (
            <Empty title="No model has a figure yet">
              Runs of {refs.map(refName).join(", ")} appear here, a row for each model, when they have ended.
            </Empty>
          ) : (
            <>
              <BoardTable project={project} columns={columns} rows={rows} />
              {calls.length === mostBoardRuns && (
                <p className={styles.note}>Of the newest {mostBoardRuns} runs. Older ones are not read.</p>
              )}
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

interface BoardTableProps extends LeaderboardProps {
  rows: readonly BoardRow[]
}

function BoardTable({ project, columns, rows }: BoardTableProps) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [current, setCurrent] = useState<number | null>(null)
  const refs = [...rows.map(({ model }) => model.modelRef), ...columns.map(({ evaluationRef }) => evaluationRef)]
  const versions = useObjectVersions(project.id, objectNames(project.id, refs)).data ?? []
  const ids = columnIds(columns)
  const asked = rowSortOf(search.sort)
  const [firstId = ""] = ids
  const bestFirst = { column: firstId, direction: columns[0]?.isLessBetter === true ? "asc" : "desc" } as const
  const sort = asked !== null && ids.includes(asked.column) ? asked : bestFirst
  const ranked = rankedRows(rows, ids.indexOf(sort.column), sort.direction)
  return (
    <div className={styles.table} style={{ height: rowHeight * (Math.min(mostSeen, rows.length) + 1) + scrollBar }}>
      <DataTable
        label="Leaderboard"
        columns={columnsOf({ project, columns, rows }, ids, versions)}
        count={ranked.length}
        rowAt={(index) => ranked[index]}
        idOf={({ model }) => model.modelRef ?? model.model}
        rowHeight={rowHeight}
        sort={sort}
        onSort={(next) =>
          void navigate({ search: (before) => ({ ...before, sort: rowSortText(next) }), replace: true })
        }
        current={current}
        onCurrent={setCurrent}
      />
    </div>
  )
}

function columnsOf(
  { project, columns, rows }: BoardTableProps,
  ids: readonly string[],
  versions: readonly KnownVersion[],
): Column<BoardRow>[] {
  const hasSeveral = new Set(columns.map(({ evaluationRef }) => evaluationRef)).size > 1
  const model: Column<BoardRow> = {
    id: "model",
    title: "Model",
    width: 220,
    grows: 1,
    cell: (row) => <Model project={project} row={row} versions={versions} />,
  }
  const figures = columns.map((column, index): Column<BoardRow> => {
    const title = hasSeveral ? `${evaluationLabel(column, versions)} ${column.metric.name}` : column.metric.name
    const best = bestOf(column, index, rows)
    return {
      id: ids[index] ?? "",
      title,
      unit: column.isLessBetter ? "↓" : "↑",
      width: Math.min(320, Math.max(120, 40 + title.length * 7)),
      isNumber: true,
      isSortable: true,
      cell: ({ cells }) => <Figure project={project} column={column} cell={cells[index]} best={best} />,
    }
  })
  return [model, ...figures]
}

/** The names of the figures; two evaluations may have one of the same name. */
function columnIds(columns: readonly BoardColumn[]): string[] {
  const names = columns.map(({ metric }) => metric.name)
  return names.map((name, index) => (names.indexOf(name) === index ? name : `${name} ${index + 1}`))
}

function evaluationLabel({ evaluationRef }: BoardColumn, versions: readonly KnownVersion[]): string {
  const ref = parseObjectRef(evaluationRef)
  return ref === null ? evaluationRef : `${ref.name} ${versionLabel(ref, versions)}`
}

interface ModelProps {
  project: CurrentProject
  row: BoardRow
  versions: readonly KnownVersion[]
}

function Model({ project, row: { model }, versions }: ModelProps) {
  const label = runLabel(model, versions)
  const ref = model.modelRef === null ? null : parseObjectRef(model.modelRef)
  if (ref?.project !== project.id) return <span title={model.modelRef ?? label}>{label}</span>
  return (
    <TextLink
      isQuiet
      to="/$entity/$project/objects/$name/versions/$version"
      params={{ ...project.params, name: ref.name, version: ref.version }}
      title={label}
    >
      {label}
    </TextLink>
  )
}

interface FigureProps {
  project: CurrentProject
  column: BoardColumn
  cell: BoardCell | undefined
  best: number | undefined
}

/** Leads to the run that it is of. */
function Figure({ project, column, cell, best }: FigureProps) {
  if (cell === undefined) return <span className={styles.none}>–</span>
  const { value, run } = cell
  const isBest = value === best
  return (
    <TextLink
      isQuiet
      className={isBest ? styles.best : undefined}
      to="/$entity/$project/traces/$trace"
      params={{ ...project.params, trace: run.traceId }}
      title={`${value}, run of ${formatTime(new Date(run.startedAt))}`}
    >
      {isBest && <Icon of={Trophy} size={12} name="best" />} {formatValue(column.metric, value)}
    </TextLink>
  )
}
