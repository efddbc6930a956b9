/** Reasons why two runs are hard to compare: other versions of dataset or scorers, rows that only one has. */
import { useObjectVersions } from "../../../api/evaluations/evaluations.ts"
import { Note } from "../../../components/states/note.tsx"
import type { Pairing } from "../../../evaluations/comparison.ts"
import { changedScorers, type EvaluationSetup, hasSameDataset, setupOf } from "../../../evaluations/evaluation-setup.ts"
import { type KnownVersion, objectNames, versionLabel } from "../../../evaluations/run-labels.ts"
import { counted } from "../../../format/counted.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import type { ComparedRun } from "./compared-run.ts"
import styles from "./compare-page.module.css"

interface DifferencesProps {
  project: CurrentProject
  runs: readonly ComparedRun[]
  /** Pairing of each candidate with the baseline. */
  pairings: readonly Pairing[]
}

export function Differences({ project, runs, pairings }: DifferencesProps) {
  const names = objectNames(
    project.id,
    runs.map(({ run }) => run.evaluationRef),
  )
  const evaluations = useObjectVersions(project.id, names).data ?? []
  const setups = runs.map(({ run }) => setupOf(run.evaluationRef, evaluations))
  const parts = setups.flatMap((setup) => [setup?.dataset, ...(setup?.scorers ?? [])].filter((ref) => ref != null))
  const partNames = [...new Set(parts.filter((ref) => ref.project === project.id).map(({ name }) => name))].toSorted()
  const versions = useObjectVersions(project.id, partNames).data ?? []
  const lines = pairings.map((pairing, index) => {
    const [before, after] = [setups[0] ?? null, setups[index + 1] ?? null]
    return {
      label: runs[index + 1]?.label ?? "",
      words: differenceWords({ before, after, pairing, versions }).join(" "),
    }
  })
  // Candidates of one evaluation mostly differ from the baseline alike.
  const notes = Map.groupBy(
    lines.filter(({ words }) => words !== ""),
    ({ words }) => words,
  )
  if (notes.size === 0) return null
  return (
    <div className={styles.note}>
      {Array.from(notes, ([words, ofWords]) => (
        <Note
          key={words}
          kind="warn"
          title={runs.length > 2 ? `${ofWords.map(({ label }) => label).join(", ")}:` : undefined}
        >
          {words}
        </Note>
      ))}
    </div>
  )
}

interface Difference {
  /** null: what the evaluation was made of is not known. */
  before: EvaluationSetup | null
  after: EvaluationSetup | null
  pairing: Pairing
  versions: readonly KnownVersion[]
}

function differenceWords({ before, after, pairing, versions }: Difference): string[] {
  const words: string[] = []
  if (before !== null && after !== null) {
    if (!hasSameDataset(before, after)) {
      const name = ({ dataset }: EvaluationSetup) =>
        dataset === null ? "no dataset" : `${dataset.name} ${versionLabel(dataset, versions)}`
      words.push(
        `The baseline ran on ${name(before)}, the candidate on ${name(after)}: rows with the same content are paired.`,
      )
    }
    for (const scorer of changedScorers(before, after)) {
      const [first, second] = [before, after].map(({ scorers }) => scorers.find(({ name }) => name === scorer))
      const version = (ref: typeof first) => (ref === undefined ? "" : versionLabel(ref, versions))
      words.push(
        `${scorer} was scored by ${version(first)} in the baseline and by ${version(second)} in the candidate: compare it with care.`,
      )
    }
  }
  const { onlyBaseline, onlyCandidate, isWhole } = pairing
  if (onlyBaseline > 0) words.push(`${rowCount(onlyBaseline)} only in the baseline.`)
  if (onlyCandidate > 0) words.push(`${rowCount(onlyCandidate)} only in the candidate.`)
  if (!isWhole) words.push("The runs are long: only the rows that were read are compared.")
  return words
}

function rowCount(count: number): string {
  return counted(count, "row is", "rows are")
}
