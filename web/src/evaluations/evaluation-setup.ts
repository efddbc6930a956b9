/** Dataset and scorers of an evaluation, each in one version, from its object. */
import { type ObjectRef, parseObjectRef } from "./refs.ts"

export interface EvaluationSetup {
  /** null: it names none. */
  dataset: ObjectRef | null
  scorers: readonly ObjectRef[]
}

interface EvaluationVersion {
  object_id: string
  digest: string
  /** Written by whoever published it, so nothing about it is certain. */
  val: unknown
}

/** null: the version is not among those that are known. */
export function setupOf(evaluationRef: string | null, versions: readonly EvaluationVersion[]): EvaluationSetup | null {
  const ref = evaluationRef === null ? null : parseObjectRef(evaluationRef)
  const found = versions.find(({ object_id, digest }) => object_id === ref?.name && digest === ref.version)
  if (typeof found?.val !== "object" || found.val === null) return null
  const { dataset, scorers } = found.val as { dataset?: unknown; scorers?: unknown }
  return {
    dataset: refOf(dataset),
    scorers: Array.isArray(scorers) ? scorers.flatMap((scorer) => refOf(scorer) ?? []) : [],
  }
}

function refOf(value: unknown): ObjectRef | null {
  return typeof value === "string" ? parseObjectRef(value) : null
}

/** Names of scorers that are not the same version in both. */
export function changedScorers(before: EvaluationSetup, after: EvaluationSetup): string[] {
  return before.scorers
    .filter(({ name, version }) => after.scorers.some((other) => other.name === name && other.version !== version))
    .map(({ name }) => name)
}

export function hasSameDataset(before: EvaluationSetup, after: EvaluationSetup): boolean {
  const [a, b] = [before.dataset, after.dataset]
  return a?.project === b?.project && a?.name === b?.name && a?.version === b?.version
}
