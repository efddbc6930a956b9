import type { Principal } from "../../../http/principal.ts"
import { type RunOp, runOpRef } from "../../runs/run-ops.ts"
import type { ProjectAccess } from "../../../access/project-access.ts"
import type { ExecutionDependencies } from "../dependencies.ts"

export interface OpOwner {
  principal: Principal
  project: ProjectAccess
}

/** By job, which publishes an op once however many calls name it. */
const known = new WeakMap<OpOwner, Map<string, Promise<string>>>()

/** {@link runOpRef}; `owner` is the job's context. */
export function jobOpRef(dependencies: ExecutionDependencies, owner: OpOwner, op: RunOp): Promise<string> {
  const refs = known.get(owner) ?? new Map<string, Promise<string>>()
  known.set(owner, refs)
  const name = `${op.owner}.${op.method}`
  const before = refs.get(name)
  if (before !== undefined) return before
  const ref = runOpRef(dependencies, owner.principal, owner.project, op)
  refs.set(name, ref)
  // A job that waits for a store tries again.
  ref.catch(() => refs.delete(name))
  return ref
}
