import { useState } from "react"
import { DataTable } from "../../components/data-table/data-table.tsx"
import type { Column, Sort } from "../../components/data-table/columns.ts"
import { Split } from "../../components/layout/split.tsx"
import { PaneHead } from "../../components/layout/pane.tsx"
import { Status } from "../../components/signs/status.tsx"
import { formatCount } from "../../format/numbers.ts"
import { formatDuration } from "../../format/durations.ts"
import { Sample } from "./sample.tsx"
import styles from "./data-samples.module.css"

interface SampleRow {
  id: string
  name: string
  duration: number
  tokens: number
  isFailed: boolean
}

const count = 1_000_000

const columns: Column<SampleRow>[] = [
  { id: "name", title: "Op", width: 180, cell: ({ name }) => name },
  { id: "status", title: "Status", width: 100, cell: ({ isFailed }) => <Status of={isFailed ? "error" : "ok"} /> },
  {
    id: "duration",
    title: "Duration",
    width: 100,
    isNumber: true,
    isSortable: true,
    cell: ({ duration }) => formatDuration(duration),
  },
  {
    id: "tokens",
    title: "Tokens",
    width: 100,
    isNumber: true,
    isSortable: true,
    cell: ({ tokens }) => formatCount(tokens),
  },
]

/** Rows are made as they are seen: there is no list of a million. */
function rowAt(index: number): SampleRow {
  return {
    id: `row-${index}`,
    name: `op_${index}`,
    duration: (index * 7919) % 9000,
    tokens: (index * 104_729) % 5000,
    isFailed: index % 13 === 5,
  }
}

export function DataSamples() {
  const [sort, setSort] = useState<Sort | null>({ column: "duration", direction: "desc" })
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set(["row-1"]))
  const [current, setCurrent] = useState<number | null>(2)
  const row = current === null ? undefined : rowAt(current)
  return (
    <Sample title="A table of a million rows, of which only those that are seen are drawn" isWide>
      <div className={styles.table}>
        <Split
          label="Width of the table"
          name="design"
          start={70}
          first={
            <DataTable
              label="Sample calls"
              columns={columns}
              count={count}
              rowAt={rowAt}
              idOf={({ id }) => id}
              sort={sort}
              onSort={setSort}
              selection={selection}
              onSelect={setSelection}
              current={current}
              onCurrent={setCurrent}
              rowState={({ isFailed }) => (isFailed ? "failed" : undefined)}
            />
          }
          second={
            <section aria-label="Details">
              <PaneHead title="Details" note={`${formatCount(selection.size)} selected`} />
              <p className={styles.details}>
                {row === undefined ? "No row is in hand." : `${row.name}, ${row.tokens} tokens`}
              </p>
            </section>
          }
        />
      </div>
    </Sample>
  )
}
