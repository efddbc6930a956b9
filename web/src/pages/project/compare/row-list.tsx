/** The rows of both runs, regressions first: what the models were given, and each score before and after. */
import { getRouteApi } from "@tanstack/react-router"
import { Download } from "lucide-react"
import { type ReactNode, useState } from "react"
import { useRowData } from "../../../api/evaluations/evaluations.ts"
import { Button } from "../../../components/controls/button.tsx"
import { saveFile } from "../../../components/controls/save-file.ts"
import { SelectField } from "../../../components/controls/field.tsx"
import type { Column } from "../../../components/data-table/columns.ts"
import { DataTable } from "../../../components/data-table/data-table.tsx"
import { PaneHead } from "../../../components/layout/pane.tsx"
import type { PairedRow, Pairing } from "../../../evaluations/comparison.ts"
import { rowPreview } from "../../../evaluations/readable-text.ts"
import type { DirectedMetric, RowSort } from "../../../evaluations/row-order.ts"
import { formatCount } from "../../../format/numbers.ts"
import type { JsonText } from "../../../json/json-text.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import type { ComparedRun } from "./compared-run.ts"
import { rowsCsv } from "./rows-csv.ts"
import { ScoreChange } from "./score-change.tsx"
import styles from "./row-list.module.css"

const route = getRouteApi("/signed-in/$entity/$project/compare")
/** Rows whose inputs are read at once. */
const blockRows = 50

interface RowListProps {
  project: CurrentProject
  runs: readonly ComparedRun[]
  pairing: Pairing
  /** In the order of the address. */
  rows: readonly PairedRow[]
  metrics: readonly DirectedMetric[]
  /** Digest of the row that is open. */
  open: string | null
}

export function RowList({ project, runs, pairing, rows, metrics, open }: RowListProps) {
  const { sort = "worse" } = route.useSearch()
  const navigate = route.useNavigate()
  const [seen, setSeen] = useState<readonly [number, number]>([0, blockRows])
  const blocks = seenBlocks(rows, seen)
  const pair = runs.slice(0, 2).map(({ run }) => run.id)
  const read = useRowData(project.id, pair, blocks)
  const dataOf = (digest: string) => read.map(({ data }) => data?.get(digest)).find((text) => text !== undefined)
  const failed = read.some(({ error }) => error !== null)
  const scores = metrics.filter(({ metric }) => !metric.isMeasured)
  const columns = columnsOf(scores.length > 0 ? scores : metrics, (digest) => (
    <RowWords data={dataOf(digest)} otherwise={failed ? digest.slice(0, 12) : "…"} />
  ))
  const download = () => {
    const csv = rowsCsv(
      rows,
      metrics.map(({ metric }) => metric),
    )
    saveFile(new Blob([csv], { type: "text/csv" }), "compared-rows.csv")
  }
  const index = rows.findIndex(({ digest }) => digest === open)
  return (
    <section className={styles.rows} aria-label="Rows">
      <PaneHead
        title="Rows"
        note={`${formatCount(pairing.pairs.length)} paired`}
        tools={
          <>
            <Button size="small" kind="quiet" icon={Download} onClick={download}>
              CSV
            </Button>
            <SelectField
              label="Order of rows"
              isLabelHidden
              value={sort}
              onChange={({ target }) => {
                const next = target.value as RowSort
                void navigate({
                  search: (before) => ({ ...before, sort: next === "worse" ? undefined : next, row: undefined }),
                  replace: true,
                })
              }}
            >
              <option value="worse">Regressions first</option>
              <option value="better">Improvements first</option>
              <option value="digest">By digest</option>
            </SelectField>
          </>
        }
      />
      <DataTable
        label="Rows of both runs"
        name="compared-rows"
        columns={columns}
        count={rows.length}
        rowAt={(at) => rows[at]}
        idOf={({ digest }) => digest}
        current={index === -1 ? null : index}
        onCurrent={(at) =>
          void navigate({ search: (before) => ({ ...before, row: rows[at]?.digest, trial: undefined }), replace: true })
        }
        onSeen={(first, last) => setSeen([first, last])}
      />
    </section>
  )
}

function columnsOf(metrics: readonly DirectedMetric[], words: (digest: string) => ReactNode): Column<PairedRow>[] {
  return [
    { id: "row", title: "Row", width: 260, grows: 1, cell: ({ digest }) => words(digest) },
    ...metrics.map(({ metric, direction }): Column<PairedRow> => ({
      id: metric.id,
      title: metric.name,
      width: 132,
      cell: (row) => <ScoreChange row={row} metric={metric} direction={direction} />,
    })),
  ]
}

function RowWords({ data, otherwise }: { data: JsonText | undefined; otherwise: string }) {
  return data === undefined ? (
    <span className={styles.dim}>{otherwise}</span>
  ) : (
    <span dir="auto">{rowPreview(data)}</span>
  )
}

/** Digests of the blocks that hold the rows that are seen. */
function seenBlocks(rows: readonly PairedRow[], [first, last]: readonly [number, number]): string[][] {
  const blocks: string[][] = []
  const end = Math.min(rows.length, last + 1)
  for (let from = Math.floor(first / blockRows) * blockRows; from < end; from += blockRows) {
    blocks.push(rows.slice(from, from + blockRows).map(({ digest }) => digest))
  }
  return blocks
}
