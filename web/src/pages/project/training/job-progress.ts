/** How far a training job is, and how long it takes still. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import { formatCount } from "../../../format/numbers.ts"

/** Before this much is done an estimate would jump. */
const leastShare = 0.05

export interface JobProgress {
  /** From 0 to 1; null: it has not said yet how much there is to do. */
  share: number | null
  leftMs: number | null
  detail: string
}

export function jobProgress(
  job: Pick<ListedJob, "status" | "started_at" | "gradient_steps" | "expected_gradient_steps">,
  now: number,
): JobProgress {
  const { status, started_at, gradient_steps: done, expected_gradient_steps: expected } = job
  if (status === "queued") return { share: null, leftMs: null, detail: "waits in the queue" }
  if (expected === null) return { share: null, leftMs: null, detail: "its data is read" }
  const share = expected === 0 ? 1 : done / expected
  const elapsed = started_at === null ? 0 : now - Date.parse(started_at)
  const leftMs = share >= leastShare && share < 1 && elapsed > 0 ? (elapsed / share) * (1 - share) : null
  return { share, leftMs, detail: `${formatCount(done)} of ${formatCount(expected)} gradient steps` }
}
