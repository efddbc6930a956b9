/** One training job, while it runs and afterwards: how far, how fast, what it says, what its data came to. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import { getRouteApi } from "@tanstack/react-router"
import { usePauseJob } from "../../../../api/training/training-changes.ts"
import { useJobEvents, useTrainingJob } from "../../../../api/training/training.ts"
import { CopyButton } from "../../../../components/controls/copy-button.tsx"
import { Segmented } from "../../../../components/controls/segmented.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Split } from "../../../../components/layout/split.tsx"
import { ShortId } from "../../../../components/signs/figures.tsx"
import { Status } from "../../../../components/signs/status.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { Note } from "../../../../components/states/note.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { useProjectOfPage } from "../../../../shell/current-project.ts"
import { jobTitle } from "../../training/job-words.ts"
import { eventsMs } from "../../training/live.ts"
import { CancelJob } from "./cancel-job.tsx"
import { PauseJob } from "./pause-job.tsx"
import { type GradientCurve, gradientCurves } from "./gradient-curves.ts"
import { JobCurves } from "./job-curves.tsx"
import { JobData } from "./job-data.tsx"
import { JobEvents } from "./job-events.tsx"
import { JobFigures } from "./job-figures.tsx"
import { JobOrigin } from "./job-origin.tsx"
import { JobTrajectories } from "./job-trajectories.tsx"
import { NoSuchJob } from "./no-such-job.tsx"
import styles from "./job-page.module.css"

const route = getRouteApi("/signed-in/$entity/$project/jobs/$id")

const views: { value: "progress" | "trajectories"; label: string }[] = [
  { value: "progress", label: "Progress" },
  { value: "trajectories", label: "Trajectories" },
]

export function JobPage() {
  const { id } = route.useParams()
  // Another job is another page: nothing of the first stays.
  return <OneJob key={id} id={id} />
}

function OneJob({ id }: { id: string }) {
  const project = useProjectOfPage()
  const query = useTrainingJob(id, eventsMs)
  const pause = usePauseJob(id)
  const job = query.data
  return (
    <>
      <PageBar
        title={job === undefined ? "Job" : jobTitle(job)}
        crumb={
          <TextLink isQuiet to="/$entity/$project/jobs" params={project.params}>
            Jobs
          </TextLink>
        }
        aside={
          job && (
            <span className={styles.aside} aria-live="polite">
              <Status of={job.status} /> <ShortId of={job.id} />
            </span>
          )
        }
        actions={
          job && (
            <>
              <CopyButton text={job.id} isWordy words="Copy id" label="Copy id of the job" />
              {job.ended_at === null && <PauseJob job={job} change={pause} />}
              {job.ended_at === null && <CancelJob job={job} />}
            </>
          )
        }
      />
      {pause.error !== null && (
        <div className={styles.notes}>
          <ErrorNote what={`The job was not ${pause.variables}d.`} error={pause.error} />
        </div>
      )}
      {job === undefined && query.error?.isNotFound === true ? (
        <NoSuchJob id={id} project={project} />
      ) : (
        <Loaded query={query} what="job">
          {(found) => <JobContent job={found} />}
        </Loaded>
      )}
    </>
  )
}

function JobContent({ job }: { job: ListedJob }) {
  const events = useJobEvents(job.id, eventsMs)
  const curves = gradientCurves(events.data ?? [])
  const { view = "progress" } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <JobFigures job={job} curves={curves} />
      <JobNotes job={job} />
      {job.kind === "rl" && (
        <div className={styles.views}>
          <Segmented
            label="View of the job"
            value={view}
            segments={views}
            onChange={(next) =>
              void navigate({ search: (old) => ({ ...old, view: next === "progress" ? undefined : next }) })
            }
          />
        </div>
      )}
      {view === "trajectories" ? (
        <JobTrajectories job={job} />
      ) : (
        <JobProgress job={job} events={events} curves={curves} />
      )}
    </>
  )
}

interface JobProgressProps {
  job: ListedJob
  events: ReturnType<typeof useJobEvents>
  curves: readonly GradientCurve[]
}

function JobProgress({ job, events, curves }: JobProgressProps) {
  return (
    <Split
      label="Width of the events"
      name="job"
      start={40}
      first={
        <Loaded query={events} what="events">
          {(found) => <JobEvents events={found} isLive={job.ended_at === null} />}
        </Loaded>
      }
      second={
        <div className={styles.right}>
          <JobCurves job={job} curves={curves} />
          <JobData job={job} />
          <JobOrigin job={job} />
        </div>
      }
    />
  )
}

/** Why it ended without a step, and what it warns of. */
function JobNotes({ job: { status, error_message: reason, warnings, model } }: { job: ListedJob }) {
  if (reason === null && warnings.length === 0 && status !== "paused") return null
  return (
    <div className={styles.notes}>
      {status === "paused" && (
        <Note kind="plain" title="The job is paused.">
          It keeps its place, and goes on from there. Further jobs of {model} wait for it.
        </Note>
      )}
      {reason !== null && (
        <Note
          kind={status === "cancelled" ? "plain" : "bad"}
          title={`The job ${status === "cancelled" ? "was cancelled" : "failed"}: no step was made, ${model} stays where it was.`}
        >
          {reason}
        </Note>
      )}
      {warnings.map((warning) => (
        <Note key={warning} kind="warn">
          {warning}
        </Note>
      ))}
    </div>
  )
}
