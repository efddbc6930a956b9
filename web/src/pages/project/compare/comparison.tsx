/** Comparison of two runs: warnings, metrics, rows and the open row. */
import { getRouteApi } from "@tanstack/react-router"
import { Split } from "../../../components/layout/split.tsx"
import { compareRuns } from "../../../evaluations/comparison.ts"
import { betterDirection } from "../../../evaluations/metrics.ts"
import { sortRows } from "../../../evaluations/row-order.ts"
import type { RunRows } from "../../../evaluations/run-rows.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import type { ComparedRun } from "./compared-run.ts"
import { Differences } from "./differences.tsx"
import { MetricTable } from "./metric-table.tsx"
import { RowDetail } from "./row-detail.tsx"
import { RowList } from "./row-list.tsx"

const route = getRouteApi("/signed-in/$entity/$project/compare")

interface ComparisonProps {
  project: CurrentProject
  /** Two at least, the baseline first. */
  runs: readonly ComparedRun[]
  /** Rows of the runs, in order. */
  rows: readonly RunRows[]
}

export function Comparison({ project, runs, rows }: ComparisonProps) {
  const { sort = "worse", row: chosen, turned = [] } = route.useSearch()
  const [baseline, ...candidates] = rows
  if (baseline === undefined) return null
  const compared = candidates.map((candidate) => compareRuns(baseline, candidate))
  const [first, ...others] = compared
  if (first === undefined) return null
  const metrics = first.metrics.map(({ metric }) => ({ metric, direction: betterDirection(metric, turned) }))
  const sorted = sortRows(first.pairing.pairs, metrics, sort)
  const open = sorted.find(({ digest }) => digest === chosen) ?? sorted[0]
  return (
    <>
      <Differences project={project} runs={runs} pairings={compared.map(({ pairing }) => pairing)} />
      <MetricTable
        runs={runs}
        comparisons={first.metrics}
        others={others.map((one) => one.metrics)}
        pairs={first.pairing.pairs.length}
      />
      <Split
        label="Width of the rows"
        name="compare"
        start={50}
        first={
          <RowList
            project={project}
            runs={runs}
            pairing={first.pairing}
            rows={sorted}
            metrics={metrics}
            open={open?.digest ?? null}
          />
        }
        second={open && <RowDetail key={open.digest} project={project} runs={runs} digest={open.digest} />}
      />
    </>
  )
}
