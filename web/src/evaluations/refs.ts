/** Refs of objects, as evaluations name their models, datasets and scorers. */
import { readRef } from "../objects/object-refs.ts"

export interface ObjectRef {
  /** `entity/project` */
  project: string
  name: string
  version: string
}

/** null: it is something else, such as a plain name. */
export function parseObjectRef(text: string): ObjectRef | null {
  const ref = readRef(text)
  if (ref === null || ref.version === null || ref.inside !== "") return null
  return { project: `${ref.entity}/${ref.project}`, name: ref.name, version: ref.version }
}

/** Name of the object in a ref. A text that is no ref is its own name. */
export function refName(text: string): string {
  return parseObjectRef(text)?.name ?? text
}
