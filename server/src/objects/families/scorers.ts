/** `/v2/…/scorers`: evaluation-store-objects 7. A scorer names the ops that score a row and sum rows up. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import { scorer, type scorerCreateBody } from "../../wire/objects/object-families.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { checkObjectId } from "../object-classes.ts"
import { checkPublishable, type PublishedVersion, publishValue } from "../object-create.ts"
import { checkSource, describedFields, type ObjectFamily, objectIdOf, refOf, textOr } from "./family.ts"
import { publishOp } from "./ops.ts"

export const scorers: ObjectFamily = {
  name: "scorers",
  noun: "a scorer",
  tag: "Scorers",
  selection: { kind: "object", baseObjectClass: "Scorer" },
  hasSource: false,
  pagedOrder: [],
  response: scorer,
  show: (member) => JSON.stringify({ ...describedFields(member), score_op: textOr(member.val["score"], "") }),
}

const summarizeSource = `import weave
from weave.flow.scorer import auto_summarize


@weave.op
def summarize(score_rows: list) -> dict | None:
    return auto_summarize(score_rows)
`

/** Stores full refs of the ops, where the reference stores bare digests. */
export async function createScorer(
  dependencies: StoreDependencies,
  principal: Principal,
  projectName: string,
  { name, description, op_source_code }: z.output<typeof scorerCreateBody>,
): Promise<PublishedVersion> {
  const objectId = objectIdOf(name)
  const parts = { score: `${objectId}_score`, summarize: `${objectId}_summarize` }
  for (const one of [objectId, ...Object.values(parts)]) checkObjectId(one)
  checkSource("op_source_code", op_source_code)
  const fields = {
    _type: "Scorer",
    name,
    description: description ?? null,
    column_map: null,
    _class_name: "Scorer",
    _bases: ["Object", "BaseModel"],
  }
  const scorerId = { project_id: projectName, object_id: objectId }
  await checkPublishable(dependencies, principal, scorerId, JSON.stringify(fields))
  const score = { objectId: parts.score, source: op_source_code }
  const summarize = { objectId: parts.summarize, source: summarizeSource }
  const refs = {
    score: refOf("op", projectName, await publishOp(dependencies, principal, projectName, score)),
    summarize: refOf("op", projectName, await publishOp(dependencies, principal, projectName, summarize)),
  }
  return publishValue(dependencies, principal, scorerId, JSON.stringify({ ...fields, ...refs }))
}
