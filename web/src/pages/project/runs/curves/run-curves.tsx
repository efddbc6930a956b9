/** What runs logged and what their machines did, as curves: a chart for each metric with a line for each run, in groups. */
import type { ReactNode } from "react"
import { type OfRun, type ReadMetrics, useRunMetrics } from "../../../../api/runs/runs.ts"
import type { ColorToken } from "../../../../components/charts/chart-colors.ts"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { AxisTools, ZoomHint } from "../../training/axis-tools.tsx"
import { type MetricDefinitions, metricGroups } from "../run-values.ts"
import type { Source } from "./curve-axis.ts"
import { CurveGroup } from "./curve-group.tsx"
import styles from "./run-curves.module.css"

/** Of those groups that are unfolded at first. More would draw hundreds of charts before somebody asks. */
const mostOpen = 6

export interface DrawnRun {
  of: OfRun
  /** When it was heard of last. */
  heardAt: string
  /** In the legend: no two of a chart have the same. */
  name: string
  color: ColorToken
  isDashed: boolean
}

/** The part of an address that is about curves of runs. */
interface CurveSearch {
  x?: "step" | "time" | undefined
  smooth?: number | undefined
  x0?: number | undefined
  x1?: number | undefined
  /** Whether the metrics of the machines are unfolded. */
  system?: boolean | undefined
}

export interface Drawing {
  runs: readonly DrawnRun[]
  definitions: MetricDefinitions
  search: CurveSearch
  onChange: (changes: CurveSearch) => void
}

interface RunCurvesProps extends Drawing {
  /** While nothing is logged. */
  none: ReactNode
  /** Between the curves of the program and those of the machine. */
  children?: ReactNode
}

export function RunCurves({ none, children, ...drawing }: RunCurvesProps) {
  const { runs, definitions, search, onChange } = drawing
  const logged = useNames(runs, "history")
  const measured = useNames(runs, "system")
  const hasOwnAxes = namesOf(logged.data).some((metric) => definitions.axisOf(metric) !== undefined)
  const ofMachine = namesOf(measured.data)
  return (
    <>
      <div className={styles.tools} role="toolbar" aria-label="Curves">
        <AxisTools search={search} onChange={onChange} hasOwnAxes={hasOwnAxes} />
        <ZoomHint search={search} onChange={onChange} />
      </div>
      <Loaded query={logged} what="metrics">
        {(read) => {
          const shown = namesOf(read).filter((metric) => !definitions.isHidden(metric))
          if (shown.length === 0) return none
          return metricGroups(shown, "Metrics").map((group, place) => (
            <CurveGroup
              key={group.title}
              group={group}
              source="history"
              isOpenAtFirst={place < mostOpen}
              drawing={drawing}
            />
          ))
        }}
      </Loaded>
      {children}
      {ofMachine.length > 0 && (
        <CurveGroup
          group={{ title: "System", metrics: ofMachine }}
          source="system"
          isOpenAtFirst={search.system === true}
          onToggle={(isOpen) => onChange({ system: isOpen || undefined })}
          drawing={drawing}
        />
      )}
    </>
  )
}

function useNames(runs: readonly DrawnRun[], source: Source) {
  return useRunMetrics(runs.map(({ of, heardAt }) => ({ of, heardAt, parameters: { source } })))
}

/** Every metric that one of the runs has, sorted. */
function namesOf(read: readonly ReadMetrics[] = []): string[] {
  return [...new Set(read.flatMap(({ read: { metrics } }) => metrics))].toSorted()
}
