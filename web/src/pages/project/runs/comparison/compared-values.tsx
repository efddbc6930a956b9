/** Config and summary of the compared runs side by side: a row for each value, a column for each run. */
import { getRouteApi } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { LineMark } from "../../../../components/charts/line-chart.tsx"
import { Button } from "../../../../components/controls/button.tsx"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { formatExact, formatNumber } from "../../../../format/numbers.ts"
import { type ComparedValue, comparedValues, configText, summaryText, valuesByPath } from "../run-values.ts"
import styles from "./compared-values.module.css"
import type { ComparedRun } from "./run-looks.ts"

const route = getRouteApi("/signed-in/$entity/$project/run-comparison")

export function ComparedValues({ runs }: { runs: readonly ComparedRun[] }) {
  const summaries = comparedValues(runs.map(({ run }) => valuesByPath(summaryText(run.summaryMetrics))))
  return (
    // The keyboard must reach what scrolls.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={styles.values} tabIndex={0} role="region" aria-label="Config and summary">
      <Configs runs={runs} />
      <section aria-label="Summary">
        <PaneHead title="Summary" />
        {summaries.length === 0 ? (
          <p className={styles.none}>None of them has a summary yet.</p>
        ) : (
          <Values label="Summary of each run" runs={runs} rows={summaries} show={shownNumber} />
        )}
      </section>
    </div>
  )
}

function Configs({ runs }: { runs: readonly ComparedRun[] }) {
  const { same = false } = route.useSearch()
  const navigate = route.useNavigate()
  const all = comparedValues(runs.map(({ run }) => valuesByPath(configText(run.config))))
  const differing = all.filter(({ isSame }) => !isSame)
  const rows = same ? all : differing
  const note = all.length === 0 ? undefined : `${differing.length} of ${all.length} differ`
  return (
    <section aria-label="Config">
      <PaneHead
        title="Config"
        note={note}
        tools={
          all.length === differing.length ? undefined : (
            <Button
              size="small"
              isOn={same}
              onClick={() =>
                void navigate({ search: (before) => ({ ...before, same: !same || undefined }), replace: true })
              }
            >
              Show all {all.length}
            </Button>
          )
        }
      />
      {rows.length > 0 ? (
        <Values label="Config of each run" runs={runs} rows={rows} show={asWritten} />
      ) : (
        <p className={styles.none}>
          {all.length === 0 ? "None of them has a config." : "All of them have the same config."}
        </p>
      )}
    </section>
  )
}

interface ValuesProps {
  label: string
  runs: readonly ComparedRun[]
  rows: readonly ComparedValue[]
  show: (value: string) => ReactNode
}

/** Room of a name, and of a value. */
const widths = { name: 132, value: 84 }

function Values({ label, runs, rows, show }: ValuesProps) {
  const heads = [
    { name: "Name", className: styles.name },
    ...runs.map(({ name, color, isDashed }) => ({
      name,
      className: styles.value,
      mark: <LineMark color={color} isDashed={isDashed} />,
    })),
  ]
  return (
    <div className={styles.table} style={{ minWidth: widths.name + widths.value * runs.length }}>
      <PlainTable label={label} heads={heads}>
        {rows.map(({ name, values }) => (
          <tr key={name}>
            <th scope="row" className={styles.name} title={name}>
              {name}
            </th>
            {values.map((value, index) => (
              <td key={runs[index]?.name} className={styles.value} title={value}>
                {value === undefined ? <span className={styles.missing}>–</span> : show(value)}
              </td>
            ))}
          </tr>
        ))}
      </PlainTable>
    </div>
  )
}

const asWritten = (value: string) => <code>{value}</code>

/** Numbers in three figures, whatever is none as it was written. */
function shownNumber(value: string): ReactNode {
  if (!/^-?\d/.test(value)) return asWritten(value)
  return <span title={formatExact(Number(value))}>{formatNumber(Number(value))}</span>
}
