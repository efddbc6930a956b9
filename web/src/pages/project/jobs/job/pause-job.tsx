/** Holds up a job that waits or runs, or lets a paused one go on: nothing is lost, so nobody is asked first. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import { Pause, Play } from "lucide-react"
import type { usePauseJob } from "../../../../api/training/training-changes.ts"
import { Button } from "../../../../components/controls/button.tsx"

export function PauseJob({ job, change }: { job: ListedJob; change: ReturnType<typeof usePauseJob> }) {
  const isPaused = job.status === "paused"
  return (
    <Button
      icon={isPaused ? Play : Pause}
      disabled={change.isPending}
      onClick={() => change.mutate(isPaused ? "resume" : "pause")}
    >
      {isPaused ? "Resume job" : "Pause job"}
    </Button>
  )
}
