/** Stops a job that waits or runs, after saying what that costs. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import { Ban } from "lucide-react"
import { useState } from "react"
import { useCancelJob } from "../../../../api/training/training-changes.ts"
import { useModels } from "../../../../api/training/training.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Confirm } from "../../../../components/layers/confirm.tsx"
import { counted } from "../../../../format/counted.ts"
import { jobTitle } from "../../training/job-words.ts"

export function CancelJob({ job }: { job: ListedJob }) {
  const [isConfirming, setConfirming] = useState(false)
  return (
    <>
      <Button kind="danger" icon={Ban} onClick={() => setConfirming(true)}>
        Cancel job
      </Button>
      {isConfirming && <ConfirmCancel job={job} onClose={() => setConfirming(false)} />}
    </>
  )
}

function ConfirmCancel({ job, onClose }: { job: ListedJob; onClose: () => void }) {
  const { entity, project, model, gradient_steps: done } = job
  const cancel = useCancelJob()
  const models = useModels({ entity, project, name: model, limit: 1 })
  const newest = models.data?.data[0]?.latest_step
  return (
    <Confirm
      title={`Cancel the ${jobTitle(job)}?`}
      action="Cancel job"
      failure="The job was not cancelled."
      change={cancel}
      onConfirm={() => cancel.mutate(job.id, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        {done === 0 ? "It has made no gradient step yet, so none is lost" : `${lostSteps(done)} lost`}; no step is made.
        It cannot be gone on with: the same data would be sent again.
      </p>
      <p>
        Kept: {newest == null ? `every step of ${model} as it is` : `${model} at step ${newest}`}, and what this page
        shows of the job.
      </p>
    </Confirm>
  )
}

function lostSteps(count: number): string {
  return counted(count, "gradient step is", "gradient steps are")
}
