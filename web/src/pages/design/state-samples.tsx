import { Zap } from "lucide-react"
import { ApiError } from "../../api/api-error.ts"
import { Button } from "../../components/controls/button.tsx"
import { Empty } from "../../components/states/empty.tsx"
import { ErrorNote } from "../../components/states/error-note.tsx"
import { Note } from "../../components/states/note.tsx"
import { ProgressRow } from "../../components/states/progress-row.tsx"
import { SkeletonRows } from "../../components/states/skeleton.tsx"
import { Code } from "../../components/text/code.tsx"
import { Sample } from "./sample.tsx"

const refused = new ApiError("Only members may start jobs. You are a viewer in nordlicht/support.", {
  status: 403,
  code: "forbidden",
  requestId: "req_7f02c9e1",
})
const offline = new ApiError("The server does not answer.", { status: 0, code: "offline" })
const nothing = () => undefined

export function StateSamples() {
  return (
    <>
      <Sample title="Loading, after 150 ms: the shape of what comes">
        <SkeletonRows what="Reading calls" />
      </Sample>
      <Sample title="Error, in its place, with the way out">
        <ErrorNote what="The job was not started." error={refused} />
        <ErrorNote what="What you see is from 14:31:40." error={offline} onRetry={nothing} />
        <Note kind="warn" title="Counted from 412,000 of 2.81 M calls.">
          There may be more.
        </Note>
      </Sample>
      <Sample title="Notes">
        <Note>Versions of the dataset differ: 208 rows are in both.</Note>
        <Note kind="accent">3 new calls since 14:31:58.</Note>
        <Note kind="good" title="Stored.">
          Step 43 is served.
        </Note>
        <Note
          title="Cancel?"
          actions={
            <>
              <Button size="small" kind="danger">
                Cancel job 43
              </Button>
              <Button size="small" kind="quiet">
                Go on
              </Button>
            </>
          }
        >
          38 gradient steps are lost; no step is made; step 42 stays the newest.
        </Note>
      </Sample>
      <Sample title="Empty, nothing yet">
        <Empty title="No evaluations yet" waitingFor="the first run">
          Runs of an evaluation and their comparison appear here. One command runs one:
        </Empty>
        <Code label="Code for a first evaluation" code="await evaluation.evaluate(model)" />
      </Sample>
      <Sample title="Empty, because of the filter">
        <Empty
          title="No call matches"
          actions={
            <>
              <Button size="small">Take that out</Button>
              <Button size="small" kind="quiet">
                Clear all
              </Button>
            </>
          }
        >
          2.81 M calls are in these 7 days; 212 match without <code>status is cancelled</code>.
        </Empty>
      </Sample>
      <Sample title="Long work: progress, time left, cancel">
        <ProgressRow
          icon={Zap}
          title="Job 43 of returns-agent"
          share={0.62}
          leftMs={61_000}
          detail="38 of 61 gradient steps"
          actions={
            <Button size="small" kind="danger">
              Cancel job
            </Button>
          }
        />
        <ProgressRow icon={Zap} title="Job 44 of returns-agent" share={null} detail="waits in the queue" />
      </Sample>
    </>
  )
}
