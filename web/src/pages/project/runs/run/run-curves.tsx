/** What a run logged and what its machine did, as curves: a chart for each metric, in groups. */
import { getRouteApi } from "@tanstack/react-router"
import { type OfRun, type OneRun, useRunMetrics } from "../../../../api/runs/runs.ts"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { AxisTools, ZoomHint } from "../../training/axis-tools.tsx"
import { isUnderWay } from "../run-state.tsx"
import { metricGroups } from "../run-values.ts"
import { CurveGroup } from "./curve-group.tsx"
import styles from "./run-curves.module.css"

const route = getRouteApi("/signed-in/$entity/$project/runs/$name")

/** Of those groups that are unfolded at first. More would draw hundreds of charts before somebody asks. */
const mostOpen = 6

export function RunCurves({ of, run }: { of: OfRun; run: OneRun }) {
  const heardAt = run.heartbeatAt
  const logged = useRunMetrics(of, { source: "history" }, heardAt)
  const measured = useRunMetrics(of, { source: "system" }, heardAt)
  const { system = false, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changes: ReturnType<typeof route.useSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
  return (
    <>
      <div className={styles.tools} role="toolbar" aria-label="Curves">
        <AxisTools search={search} onChange={change} />
        <ZoomHint search={search} onChange={change} />
      </div>
      <Loaded query={logged} what="metrics">
        {({ metrics }) =>
          metrics.length === 0 ? (
            <NoCurve run={run} />
          ) : (
            metricGroups(metrics, "Metrics").map((group, place) => (
              <CurveGroup
                key={group.title}
                group={group}
                of={of}
                heardAt={heardAt}
                source="history"
                isOpenAtFirst={place < mostOpen}
              />
            ))
          )
        }
      </Loaded>
      {measured.data !== undefined && measured.data.metrics.length > 0 && (
        <CurveGroup
          group={{ title: "System", metrics: measured.data.metrics }}
          of={of}
          heardAt={heardAt}
          source="system"
          isOpenAtFirst={system}
          onToggle={(isOpen) => change({ system: isOpen || undefined })}
        />
      )}
    </>
  )
}

function NoCurve({ run }: { run: OneRun }) {
  return (
    <Empty title="Nothing logged yet" {...(isUnderWay(run) ? { waitingFor: "the first numbers" } : {})}>
      <p>
        Curves appear here for every number that <code>run.log</code> is given.
      </p>
    </Empty>
  )
}
