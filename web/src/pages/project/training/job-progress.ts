/** How far a training job is, and how long it takes still. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import { counted } from "../../../format/counted.ts"
import { formatCount } from "../../../format/numbers.ts"

export interface JobProgress {
  /** From 0 to 1; null: it has not said yet how much there is to do. */
  share: number | null
  leftMs: number | null
  detail: string
}

type ProgressFields = Pick<
  ListedJob,
  "status" | "gradient_steps" | "expected_gradient_steps" | "estimated_seconds_left"
>

export function jobProgress(job: ProgressFields): JobProgress {
  const { status, gradient_steps: done, expected_gradient_steps: expected, estimated_seconds_left: left } = job
  if (status === "queued") return { share: null, leftMs: null, detail: "waits in the queue" }
  if (expected === null)
    return { share: null, leftMs: null, detail: status === "paused" ? "paused" : "its data is read" }
  const share = expected === 0 ? 1 : done / expected
  const steps = `${formatCount(done)} of ${counted(expected, "gradient step")}`
  // Of a job whose steps are done only the checkpoint is to be written.
  const leftMs = left === null || left === 0 ? null : left * 1000
  return { share, leftMs, detail: status === "paused" ? `paused at ${steps}` : steps }
}
