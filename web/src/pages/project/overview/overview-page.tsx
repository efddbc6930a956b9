/** The loop with one figure a station, what its models learn, what runs and waits, the traffic and the newest traces. */
import { getRouteApi } from "@tanstack/react-router"
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

const route = getRouteApi("/signed-in/$entity/$project/")

/** So long the page waits for what it asked for. A server that takes longer shows what is there, and lines move when more comes. */
const mostWaitMs = 2000

export function OverviewPage({ project }: { project: CurrentProject }) {
  const { since = "24h" } = route.useSearch()
  const navigate = route.useNavigate()
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
          <LearningModels project={project} />
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
