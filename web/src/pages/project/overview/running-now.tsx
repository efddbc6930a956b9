/** Jobs that run, wait for their turn or are paused. */
import { Zap } from "lucide-react"
import { useTrainingJobs } from "../../../api/training/training.ts"
import { PaneHead } from "../../../components/layout/pane.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { ProgressRow } from "../../../components/states/progress-row.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { jobProgress } from "../training/job-progress.ts"
import { jobTitle } from "../training/job-words.ts"
import { quick } from "./live.ts"
import styles from "./running-now.module.css"

export function RunningNow({ project }: { project: CurrentProject }) {
  const jobs = useTrainingJobs({ ...project.params, status: ["running", "queued", "paused"], limit: 20 }, quick)
  return (
    <section aria-label="Running now">
      <PaneHead title="Running now" note={jobs.data?.data.length || undefined} />
      <Loaded query={jobs} what="jobs">
        {({ data }) =>
          data.length === 0 ? (
            <p className={styles.none}>
              Nothing runs. A job begins with the next train call of ART, an SFT upload, or “Train on these”.
            </p>
          ) : (
            <ul aria-live="polite">
              {data.map((job) => {
                const { share, leftMs, detail } = jobProgress(job)
                return (
                  <li key={job.id} className={styles.job}>
                    <ProgressRow
                      icon={Zap}
                      title={
                        <TextLink isQuiet to="/$entity/$project/jobs/$id" params={{ ...project.params, id: job.id }}>
                          {jobTitle(job)}
                        </TextLink>
                      }
                      share={share}
                      leftMs={leftMs}
                      detail={detail}
                    />
                  </li>
                )
              })}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}
