/** `/v2/…/ops`: evaluation-store-objects 7. An op is its source code in a file, under a name. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import { op, type opCreateBody } from "../../wire/objects/object-families.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { checkObjectId } from "../object-classes.ts"
import { type PublishedVersion, publishValue } from "../object-create.ts"
import type { PayloadDependencies } from "../payload/run-payload-task.ts"
import { ensureProject } from "../../access/project-access.ts"
import { storeSource } from "../project/source-files.ts"
import { checkSource, type ObjectFamily, objectIdOf, sourceFileName, versionFields } from "./family.ts"

export const ops: ObjectFamily = {
  name: "ops",
  noun: "an op",
  tag: "Ops",
  selection: { kind: "op", baseObjectClass: null },
  hasSource: true,
  pagedOrder: [
    { field: "object_id", direction: "asc" },
    { field: "created_at", direction: "desc" },
  ],
  response: op,
  show: ({ record }, source) => JSON.stringify({ ...versionFields(record), code: source }),
}

/** Source of an op whose code was not sent. */
const unknownSource = `import weave


@weave.op
def op(*args, **kwargs):
    raise NotImplementedError("the source code of this op was not published")
`

export async function createOp(
  dependencies: StoreDependencies,
  principal: Principal,
  projectName: string,
  { name, source_code }: z.output<typeof opCreateBody>,
): Promise<PublishedVersion> {
  const source = source_code || unknownSource
  checkSource("source_code", source)
  return publishOp(dependencies, principal, projectName, { objectId: name == null ? "Op" : objectIdOf(name), source })
}

/** The same code under the same name is the same version. */
export async function publishOp(
  dependencies: PayloadDependencies & Pick<StoreDependencies, "blobs">,
  principal: Principal,
  projectName: string,
  { objectId, source }: { objectId: string; source: string },
): Promise<PublishedVersion> {
  checkObjectId(objectId)
  const project = await ensureProject(dependencies.database, principal, projectName)
  const file = await storeSource(dependencies, project.id, source)
  const val = { _type: "CustomWeaveType", weave_type: { type: "Op" }, files: { [sourceFileName]: file } }
  return publishValue(dependencies, principal, { project_id: projectName, object_id: objectId }, JSON.stringify(val))
}
