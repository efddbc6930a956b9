/** Every metric of both runs: the change with its interval, how rows moved, and what can be read from it. */
import { getRouteApi } from "@tanstack/react-router"
import { ArrowDown, ArrowUp, Equal } from "lucide-react"
import { Button } from "../../../components/controls/button.tsx"
import { type Head, PlainTable } from "../../../components/layout/plain-table.tsx"
import { ComparisonBar } from "../../../components/signs/comparison-bar.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { type MetricComparison, type Reading, readingOf } from "../../../evaluations/comparison.ts"
import {
  betterDirection,
  type Direction,
  directionWords,
  formatDifference,
  formatDifferenceInterval,
  formatSize,
  formatValue,
} from "../../../evaluations/metrics.ts"
import { counted } from "../../../format/counted.ts"
import { formatP } from "../../../format/numbers.ts"
import type { ComparedRun } from "./compared-run.ts"
import { ChangeForest } from "./change-forest.tsx"
import styles from "./metric-table.module.css"

const route = getRouteApi("/signed-in/$entity/$project/compare")

interface MetricTableProps {
  runs: readonly ComparedRun[]
  /** Comparisons of the first candidate. */
  comparisons: readonly MetricComparison[]
  /** Comparisons of the other candidates, in order; drawn beside the first. */
  others: readonly (readonly MetricComparison[])[]
  /** Rows that both runs have. */
  pairs: number
}

export function MetricTable({ runs, comparisons, others, pairs }: MetricTableProps) {
  const { turned = [] } = route.useSearch()
  const navigate = route.useNavigate()
  const heads: Head[] = [
    { name: "Metric, arrow to better", className: styles.metric },
    { name: "Baseline", className: styles.value },
    { name: "Candidate", className: styles.value },
    { name: "Change, 95 % interval", className: styles.change },
    { name: "worse ← 0 → better", className: styles.forest },
    { name: "Rows", className: styles.rows },
    { name: "p", className: styles.p },
    { name: "Reading", className: styles.reading },
  ]
  if (comparisons.length === 0) {
    return (
      <p className={styles.none}>
        {pairs === 0
          ? "No row is in both runs: nothing can be compared."
          : "No metric is in both runs: their scorers have different names."}
      </p>
    )
  }
  const turn = (id: string) =>
    void navigate({
      search: (before) => ({
        ...before,
        turned: turned.includes(id) ? turned.filter((one) => one !== id) : [...turned, id],
      }),
      replace: true,
    })
  const label = `Metrics of ${runs[1]?.label} against ${runs[0]?.label}, paired by row`
  return (
    <div className={styles.table}>
      <PlainTable label={label} heads={heads}>
        {comparisons.map((one) => {
          const { metric } = one
          const direction = betterDirection(metric, turned)
          const beside = others.map((metrics) => metrics.find((other) => other.metric.id === metric.id))
          return (
            <tr key={metric.id} className={styles.row}>
              <td className={styles.metric}>
                <span className={styles.name}>
                  <Button
                    size="small"
                    kind="quiet"
                    icon={direction === "up" ? ArrowUp : ArrowDown}
                    aria-label={`${metric.name}: ${directionWords(direction)}, turn it`}
                    title={`${directionWords(direction)}; press to turn it`}
                    onClick={() => turn(metric.id)}
                  />
                  <b title={metric.name}>{metric.name}</b>
                  {one.count < pairs && (
                    <span
                      className={styles.dim}
                      title={`${counted(pairs - one.count, "row lacks", "rows lack")} it in one of both runs`}
                    >
                      {formatSize(one.count)}
                    </span>
                  )}
                </span>
              </td>
              <td className={styles.value}>{formatValue(metric, one.baseline)}</td>
              <td className={styles.value}>
                <b>{formatValue(metric, one.candidate)}</b>
              </td>
              <td className={styles.change} title={intervalTitle(one)}>
                {formatDifference(metric, one.change)}
                {one.interval && <span className={styles.dim}> {formatDifferenceInterval(metric, one.interval)}</span>}
              </td>
              <td className={styles.forest}>
                <ChangeForest comparisons={[one, ...beside]} direction={direction} />
              </td>
              <td className={styles.rows}>
                <ComparisonBar
                  better={direction === "up" ? one.up : one.down}
                  same={one.same}
                  worse={direction === "up" ? one.down : one.up}
                />
              </td>
              <td className={styles.p} title={`${one.test.name}, two-sided, this metric alone`}>
                {formatP(one.test.p)}
              </td>
              <td className={styles.reading}>
                <ReadingWords reading={readingOf(one, direction)} direction={direction} />
              </td>
            </tr>
          )
        })}
      </PlainTable>
      <p className={styles.method}>
        Intervals: {methodWords(comparisons)}. p: {[...new Set(comparisons.map(({ test }) => test.name))].join(", ")},
        two-sided, each metric alone. “Better” and “worse” need an interval without 0 and p &lt; 0.05.
      </p>
    </div>
  )
}

function intervalTitle({ count, interval, intervalKind }: MetricComparison): string {
  const of = `mean of the changes of ${counted(count, "row")}`
  return interval === null ? of : `${of}, ${intervalKind} interval`
}

function methodWords(comparisons: readonly MetricComparison[]): string {
  const kinds = new Set(comparisons.map(({ intervalKind }) => intervalKind))
  const words = { bootstrap: "bootstrap over rows (BCa)", normal: "normal, over rows" }
  return [...kinds].map((kind) => words[kind]).join(", ")
}

const looks = { better: styles.good, worse: styles.bad, unclear: styles.dim }

function ReadingWords({ reading, direction }: { reading: Reading; direction: Direction }) {
  const isUp = reading === "better" ? direction === "up" : direction === "down"
  const icon = reading === "unclear" ? Equal : isUp ? ArrowUp : ArrowDown
  return (
    <span className={looks[reading]}>
      <Icon of={icon} size={12} /> {reading === "unclear" ? "no clear difference" : reading}
    </span>
  )
}
