/** The question before runs are deleted. */
import type { ListedRun } from "../../../api/runs/run-list.ts"
import { useDeleteRuns } from "../../../api/runs/run-changes.ts"
import { Confirm } from "../../../components/layers/confirm.tsx"
import { counted } from "../../../format/counted.ts"

interface DeleteRunsProps {
  runs: readonly ListedRun[]
  /** Goes on without them, wherever that is, when they are gone; the window may be closed by then. */
  leave: () => Promise<void>
  onClose: () => void
}

export function DeleteRuns({ runs, leave, onClose }: DeleteRunsProps) {
  const remove = useDeleteRuns()
  const [only] = runs
  const what = runs.length === 1 && only !== undefined ? only.displayName || only.name : counted(runs.length, "run")
  return (
    <Confirm
      title={`Delete ${what}?`}
      action={runs.length === 1 ? "Delete the run" : `Delete ${what}`}
      failure={runs.length === 1 ? "The run is as before." : "Not every run was deleted."}
      change={remove}
      onConfirm={() => remove.mutate({ ids: runs.map(({ id }) => id), leave })}
      onClose={onClose}
    >
      <p>
        What {runs.length === 1 ? "it" : "they"} logged, configs, summaries, console output and files are deleted. It
        cannot be undone. Artifacts that {runs.length === 1 ? "it" : "they"} made stay.
      </p>
    </Confirm>
  )
}
