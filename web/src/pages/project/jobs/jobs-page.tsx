/** The training jobs of a project, the newest first; a failure says its reason in the row. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import { getRouteApi } from "@tanstack/react-router"
import { useJobPages } from "../../../api/training/training-pages.ts"
import { useNow } from "../../../clock/use-now.ts"
import { Segmented } from "../../../components/controls/segmented.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { PlainTable } from "../../../components/layout/plain-table.tsx"
import { Meter } from "../../../components/signs/meter.tsx"
import { Status } from "../../../components/signs/status.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { formatDuration } from "../../../format/durations.ts"
import { useProjectOfPage } from "../../../shell/current-project.ts"
import { jobDuration, jobTitle } from "../training/job-words.ts"
import { jobProgress } from "../training/job-progress.ts"
import { underWay } from "../training/live.ts"
import { MoreRows } from "../training/more-rows.tsx"
import { TrainingTabs } from "../training/training-tabs.tsx"
import styles from "./jobs-page.module.css"

const route = getRouteApi("/signed-in/$entity/$project/jobs")

const statuses = {
  all: undefined,
  open: ["running", "queued", "paused"],
  succeeded: ["succeeded"],
  failed: ["failed", "cancelled"],
} as const

const states: { value: keyof typeof statuses; label: string }[] = [
  { value: "all", label: "All" },
  { value: "open", label: "Open" },
  { value: "succeeded", label: "Succeeded" },
  { value: "failed", label: "Failed" },
]

const heads = [
  { name: "State", className: styles.state },
  { name: "Job", className: styles.job },
  { name: "Progress", className: styles.progress },
  { name: "Result", className: styles.result },
  { name: "Took", className: styles.took },
  { name: "Asked for", className: styles.time },
]

export function JobsPage() {
  const project = useProjectOfPage()
  const { state = "all" } = route.useSearch()
  const navigate = route.useNavigate()
  const status = statuses[state]
  const parameters = { ...project.params, ...(status === undefined ? {} : { status }) }
  const jobs = useJobPages(parameters, underWay)
  const rows = (jobs.data ?? []).flatMap(({ data }) => data)
  return (
    <>
      <PageBar title="Models & jobs" tab="Jobs" />
      <TrainingTabs
        project={project}
        tools={
          <Segmented
            label="State"
            size="small"
            value={state}
            segments={states}
            onChange={(next) => void navigate({ search: { state: next === "all" ? undefined : next } })}
          />
        }
      />
      <div className={styles.list}>
        <Loaded query={jobs} what="jobs">
          {() =>
            rows.length === 0 ? (
              <NoJobs state={state} />
            ) : (
              <PlainTable label="Jobs" heads={heads}>
                {rows.map((job) => (
                  <JobRow key={job.id} job={job} />
                ))}
              </PlainTable>
            )
          }
        </Loaded>
        <MoreRows what="jobs" query={jobs} />
      </div>
    </>
  )
}

function JobRow({ job }: { job: ListedJob }) {
  const now = useNow(1)
  const { entity, project, model, output_step: step } = job
  const { share, detail } = jobProgress(job)
  const took = jobDuration(job, now)
  return (
    <tr>
      <td className={styles.state}>
        <Status of={job.status} />
      </td>
      <td className={styles.job}>
        <TextLink isQuiet to="/$entity/$project/jobs/$id" params={{ entity, project, id: job.id }}>
          {jobTitle(job)}
        </TextLink>
        {job.error_message !== null && <p className={styles.reason}>{job.error_message}</p>}
      </td>
      <td className={styles.progress}>
        {job.ended_at !== null && share === null ? (
          "no step was made"
        ) : (
          <span className={styles.share}>
            <span className={styles.meter}>
              <Meter share={share} label={`Progress of the ${jobTitle(job)}`} />
            </span>
            {detail}
          </span>
        )}
      </td>
      <td className={styles.result}>
        {step !== null && (
          <TextLink
            to="/$entity/$project/models/$name/steps/$step"
            params={{ entity, project, name: model, step: `${step}` }}
          >
            step {step}
          </TextLink>
        )}
      </td>
      <td className={styles.took}>{took === null ? "" : formatDuration(took)}</td>
      <td className={styles.time}>
        <Time at={job.created_at} />
      </td>
    </tr>
  )
}

function NoJobs({ state }: { state: keyof typeof statuses }) {
  if (state === "all") {
    return (
      <Empty title="No jobs yet">
        <p>
          A job begins with the next train call of ART, with a file that is uploaded for SFT, or with “Train on these”
          at traces, labels and evaluations.
        </p>
      </Empty>
    )
  }
  return (
    <Empty title={{ open: "Nothing runs", succeeded: "None succeeded", failed: "None failed" }[state]}>
      <p>No job of this project is in that state.</p>
    </Empty>
  )
}
