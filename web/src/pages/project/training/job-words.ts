/** Training jobs as a person reads them. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"

const jobKinds = { rl: "RL", sft: "SFT", dpo: "DPO" } as const

export function jobTitle({ kind, model }: Pick<ListedJob, "kind" | "model">): string {
  return `${jobKinds[kind]} job of ${model}`
}

/** How long it ran, or runs; null: it has not begun. */
export function jobDuration({ started_at, ended_at }: Pick<ListedJob, "started_at" | "ended_at">, now: number) {
  if (started_at === null) return null
  return Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at))
}
