/** Label of a run: its model with the version, where versions are known. */
import type { EvalRun } from "./eval-run.ts"
import { type ObjectRef, parseObjectRef } from "./refs.ts"

export interface KnownVersion {
  object_id: string
  digest: string
  version_index: number
}

/** "returns-agent v3"; a version that is not known is told by the beginning of its digest. */
export function runLabel({ model, modelRef }: Pick<EvalRun, "model" | "modelRef">, versions: readonly KnownVersion[]) {
  const ref = modelRef === null ? null : parseObjectRef(modelRef)
  return ref === null ? model : `${ref.name} ${versionLabel(ref, versions)}`
}

export function versionLabel(ref: ObjectRef, versions: readonly KnownVersion[]): string {
  const known = versions.find(({ object_id, digest }) => object_id === ref.name && digest === ref.version)
  if (known !== undefined) return `v${known.version_index}`
  return ref.version.length > 8 ? ref.version.slice(0, 6) : ref.version
}

/** Names of the project's own objects that the texts are refs of. */
export function objectNames(projectId: string, refs: readonly (string | null)[]): string[] {
  const names = refs.flatMap((text) => {
    const ref = text === null ? null : parseObjectRef(text)
    return ref?.project === projectId ? [ref.name] : []
  })
  return [...new Set(names)].toSorted()
}
