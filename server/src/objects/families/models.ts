/** `/v2/…/models`: evaluation-store-objects 2.2 and 7. A model is a class in a file, with attributes. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import { membersOf, objectText } from "../../json/json-members.ts"
import { model, type modelCreateBody } from "../../wire/objects/object-families.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { checkObjectId } from "../object-classes.ts"
import { type PublishedVersion, publishValue } from "../object-create.ts"
import { ensureProject } from "../../access/project-access.ts"
import { storeSource } from "../project/source-files.ts"
import {
  describedFields,
  type FamilyMember,
  type ObjectFamily,
  objectIdOf,
  sourceFileName,
  withAttributes,
} from "./family.ts"
import { modelFieldNames } from "./reserved-names.ts"

export const models: ObjectFamily = {
  name: "models",
  noun: "a model",
  tag: "Models of the evaluation store",
  selection: { kind: "object", baseObjectClass: "Model" },
  hasSource: true,
  pagedOrder: [],
  response: model,
  show: showModel,
}

/** Attributes come back as they were spelled. */
function showModel(member: FamilyMember, source: string): string {
  const fields = JSON.stringify({ ...describedFields(member), source_code: source })
  const attributes = membersOf(member.text).filter(([name]) => !modelFieldNames.has(name))
  return `${fields.slice(0, -1)},"attributes":${attributes.length === 0 ? "null" : objectText(attributes)}}`
}

export interface NewModel extends Omit<z.output<typeof modelCreateBody>, "attributes"> {
  /** JSON of an object. */
  attributes: string | null
}

/** Creates a model from the result of `modelTask`, which has read and checked the body. */
export async function createModel(
  dependencies: StoreDependencies,
  principal: Principal,
  projectName: string,
  { name, description, source_code, attributes }: NewModel,
): Promise<PublishedVersion> {
  const objectId = objectIdOf(name)
  checkObjectId(objectId)
  const project = await ensureProject(dependencies.database, principal, projectName)
  const file = await storeSource(dependencies, project.id, source_code)
  const fields = {
    _type: "Model",
    name,
    description: description ?? null,
    files: { [sourceFileName]: file },
    _class_name: "Model",
    _bases: ["Object", "BaseModel"],
  }
  const text = withAttributes(fields, attributes)
  return publishValue(dependencies, principal, { project_id: projectName, object_id: objectId }, text)
}
