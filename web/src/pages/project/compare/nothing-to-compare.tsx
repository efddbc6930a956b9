/** Fewer than two runs: which ones could be taken. */
import { useEvalRuns } from "../../../api/evaluations/evaluations.ts"
import { Empty } from "../../../components/states/empty.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import type { EvalRun } from "../../../evaluations/eval-run.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"

interface NothingToCompareProps {
  project: CurrentProject
  /** null: none was chosen. */
  baseline: EvalRun | null
}

export function NothingToCompare({ project, baseline }: NothingToCompareProps) {
  const { params } = project
  const runs = useEvalRuns(
    project.id,
    baseline === null || baseline.evaluationRef === null ? undefined : baseline.evaluation,
  )
  const others = (runs.data ?? []).filter(({ id }) => id !== baseline?.id)
  const other = others[0]
  if (baseline === null || other === undefined) {
    return (
      <Empty
        title="Nothing to compare with yet"
        actions={
          <TextLink to="/$entity/$project/evaluations" params={params}>
            All evaluations
          </TextLink>
        }
      >
        {baseline === null
          ? "Choose two runs on the page of an evaluation."
          : "This is the only run so far. A second one can be compared with it, row by row."}
      </Empty>
    )
  }
  return (
    <Empty
      title="Nothing to compare with yet"
      actions={
        <TextLink to="/$entity/$project/compare" params={params} search={{ runs: [other.id, baseline.id] }}>
          Take {other.model} as the baseline
        </TextLink>
      }
    >
      The newest other run of {baseline.evaluation} is of {other.model}, <Time at={other.startedAt} />.
    </Empty>
  )
}
