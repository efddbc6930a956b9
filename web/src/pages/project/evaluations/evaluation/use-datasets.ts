/** On which dataset each run of an evaluation ran, in which version. */
import { useObjectVersions } from "../../../../api/evaluations/evaluations.ts"
import type { EvalRun } from "../../../../evaluations/eval-run.ts"
import { setupOf } from "../../../../evaluations/evaluation-setup.ts"
import { objectNames, versionLabel } from "../../../../evaluations/run-labels.ts"

/** "questions v1" by run, in their order; null: not known, or none. */
export function useDatasets(projectId: string, runs: readonly EvalRun[]): (string | null)[] {
  const names = objectNames(
    projectId,
    runs.map(({ evaluationRef }) => evaluationRef),
  )
  const evaluations = useObjectVersions(projectId, names).data ?? []
  const datasets = runs.map(({ evaluationRef }) => setupOf(evaluationRef, evaluations)?.dataset ?? null)
  const own = datasets.flatMap((ref) => (ref?.project === projectId ? [ref.name] : []))
  const versions = useObjectVersions(projectId, [...new Set(own)].toSorted()).data ?? []
  return datasets.map((ref) => (ref === null ? null : `${ref.name} ${versionLabel(ref, versions)}`))
}
