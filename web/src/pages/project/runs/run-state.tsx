/** The state of a run, as the wandb client names it. */
import type { ListedRun, RunState as State } from "../../../api/runs/run-list.ts"
import { Status, type StatusKind } from "../../../components/signs/status.tsx"

const kinds: Readonly<Record<State, StatusKind>> = {
  pending: "queued",
  running: "running",
  preempting: "warning",
  finished: "succeeded",
  failed: "failed",
  crashed: "error",
  killed: "cancelled",
}

export function RunState({ of }: { of: State }) {
  return <Status of={kinds[of]}>{of}</Status>
}

/** Whether more of it may come. */
export function isUnderWay(run: Pick<ListedRun, "state"> | null | undefined): boolean {
  return run != null && ["pending", "running", "preempting"].includes(run.state)
}
