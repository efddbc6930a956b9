/** Runs as rows: their state, where they belong, and values of their configs and summaries. Those that are ticked are compared. */
import { getRouteApi } from "@tanstack/react-router"
import { useState } from "react"
import type { ListedRun } from "../../../api/runs/run-list.ts"
import type { Column } from "../../../components/data-table/columns.ts"
import { DataTable } from "../../../components/data-table/data-table.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { useMedia } from "../../../shell/use-media.ts"
import { ColumnChooser } from "../columns/column-chooser.tsx"
import { runColumns, type RunRow, runRow, usualRunColumns, valueColumn } from "./run-columns.tsx"
import { columnOfSort, isPath, sortOfColumn } from "./run-selection.ts"

const route = getRouteApi("/signed-in/$entity/$project/runs")

const [rowHeight, narrowRowHeight] = [32, 44]

interface RunsTableProps {
  project: CurrentProject
  runs: readonly ListedRun[]
  /** The last of them are seen. */
  onEnd: () => void
  /** Somebody chooses columns; the runs then have their configs. */
  isChoosing: boolean
  onChosen: () => void
}

export function RunsTable({ project, runs, onEnd, isChoosing, onChosen }: RunsTableProps) {
  const { sort, up = false, runs: chosen = [], cols = [] } = route.useSearch()
  const navigate = route.useNavigate()
  const [current, setCurrent] = useState<number | null>(null)
  const isNarrow = useMedia("(max-width: 699px)")
  const rows = runs.map(runRow)
  const sorted = sort === undefined ? undefined : columnOfSort(sort)
  const usual = usualRunColumns(runs, sorted)
  const known = runColumns(project)
  const columns = (cols.length > 0 ? cols : usual).flatMap((id): Column<RunRow>[] => {
    const column = known.find((one) => one.id === id)
    return column !== undefined ? [column] : isPath(id) ? [valueColumn(id, rows)] : []
  })
  return (
    <>
      <DataTable
        label="Runs"
        name="runs"
        columns={columns}
        count={rows.length}
        rowAt={(index) => rows[index]}
        idOf={({ run }) => run.name}
        onSeen={(_first, last) => last === rows.length - 1 && onEnd()}
        rowHeight={isNarrow ? narrowRowHeight : rowHeight}
        sort={sorted === undefined ? null : { column: sorted, direction: up ? "asc" : "desc" }}
        onSort={({ column, direction }) =>
          void navigate({
            search: (before) => ({ ...before, sort: sortOfColumn(column), up: direction === "asc" }),
            replace: true,
          })
        }
        current={current}
        onCurrent={setCurrent}
        onOpen={({ run }) =>
          void navigate({ to: "/$entity/$project/runs/$name", params: { ...project.params, name: run.name } })
        }
        {...(isNarrow
          ? {}
          : {
              selection: new Set(chosen),
              onSelect: (names) =>
                void navigate({ search: (before) => ({ ...before, runs: [...names] }), replace: true }),
            })}
      />
      {isChoosing && (
        <ColumnChooser
          shown={columns.map(({ id }) => id)}
          columns={known}
          usual={usual}
          paths={[...new Set(rows.flatMap(({ values }) => [...values.keys()]))].toSorted()}
          isReading={runs.some(({ config }) => config === undefined)}
          isPath={isPath}
          example="config.optimizer.lr"
          pathRule="A path begins with config. or summary."
          onChange={(shown) => void navigate({ search: (before) => ({ ...before, cols: shown }), replace: true })}
          onClose={onChosen}
        />
      )}
    </>
  )
}
