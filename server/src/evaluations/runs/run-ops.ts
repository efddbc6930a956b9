/** The ops that calls of an evaluation run name, published so that the refs lead somewhere. */
import type { Principal } from "../../http/principal.ts"
import { codePoints } from "../../json/code-points.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { refOf } from "../../objects/families/family.ts"
import { publishOp } from "../../objects/families/ops.ts"
import type { ProjectAccess } from "../../access/project-access.ts"

const longestName = 128

const source = `import weave


@weave.op
def op(*args, **kwargs):
    raise NotImplementedError("recorded through the evaluation API, which sends no source code")
`

export interface RunOp {
  /** The name ahead of the dot: of a model, a scorer or `Evaluation`. */
  owner: string
  method: string
  /** In place of an owner that makes no name of an op. */
  otherwise: string
}

/** The ref of the op `<owner>.<method>`. */
export async function runOpRef(
  dependencies: CallDependencies,
  principal: Principal,
  project: ProjectAccess,
  { owner, method, otherwise }: RunOp,
): Promise<string> {
  const wanted = `${owner}.${method}`
  const fits = codePoints(wanted) <= longestName && /^[\p{L}\p{N}_.-]+$/u.test(owner)
  const objectId = fits ? wanted : `${otherwise}.${method}`
  return refOf("op", project.name, await publishOp(dependencies, principal, project.name, { objectId, source }))
}
