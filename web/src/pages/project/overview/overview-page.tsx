/** The loop with one figure a station, what its models learn, what runs and waits, the traffic and the newest traces. */
import { useQuery } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { useProject } from "../../../api/organization/projects.ts"
import { useFirstReading } from "../../../api/use-first-reading.ts"
import { Segmented } from "../../../components/controls/segmented.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { windowSegments } from "../time-window.ts"
import { LearningModels } from "./learning-models.tsx"
import { LoopStrip } from "./loop-strip.tsx"
import { NewestTraces } from "./newest-traces.tsx"
import styles from "./overview-page.module.css"
import { RunningNow } from "./running-now.tsx"
import { Traffic } from "./traffic.tsx"
import { Waiting } from "./waiting.tsx"
import { useNewestModels } from "./use-newest-models.ts"

const route = getRouteApi("/signed-in/$entity/$project/")

/** So long the page waits for what it asked for. A server that takes longer shows what is there, and lines move when more comes. */
const mostWaitMs = 2000

/** Code that only a project with runs needs, or one without models. As a reading it is waited for like the others. */
const runsCode = { queryKey: ["code of runs"], queryFn: () => import("./newest-runs.tsx") }

export function OverviewPage({ project }: { project: CurrentProject }) {
  const { since = "24h" } = route.useSearch()
  const navigate = route.useNavigate()
  const hasRuns = useProject(project.entity, project.project).data?.has_runs
  const models = useNewestModels(project).data?.data
  const { data: code } = useQuery({ ...runsCode, enabled: hasRuns || models?.length === 0 })
  const isRead = useFirstReading(mostWaitMs)
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <PageBar
          title="Overview"
          actions={
            <Segmented
              label="Range of time"
              value={since}
              segments={windowSegments}
              onChange={(value) =>
                void navigate({ search: { since: value === "24h" ? undefined : value }, replace: true })
              }
            />
          }
        />
      </div>
      <LoopStrip project={project} since={since} />
      {/* How high each part is tells only its data: they show together, so that none moves away under the reader. */}
      <div className={isRead ? undefined : styles.unread} aria-busy={!isRead}>
        <div className={styles.two}>
          <div className={styles.learning}>
            <LearningModels
              project={project}
              none={code && <code.WithoutModels project={project} hasRuns={hasRuns} />}
            />
            {code && hasRuns && <code.NewestRuns project={project} />}
          </div>
          <div className={styles.side}>
            <RunningNow project={project} />
            <Waiting project={project} />
          </div>
        </div>
        <Traffic project={project} since={since} />
        <NewestTraces project={project} />
      </div>
    </div>
  )
}
