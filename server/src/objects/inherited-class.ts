/** The class of a value that was read and published again: evaluation-store-objects 3.1. */
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { findVersion } from "../storage/catalog/objects/object-reads.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { existingProject } from "../access/project-access.ts"
import { type Ref, tryParseRef } from "./refs/refs.ts"
import type { ObjectClasses } from "./object-classes.ts"

/**
 * weave 0.52.22 and 0.54.0 publish an object that they read and changed with a ref to the
 * `_class_name` of the version they read, in place of the name: it is then of that version's class.
 */
export async function inheritedClasses(
  database: CatalogDatabase,
  principal: Principal,
  classes: ObjectClasses | null,
): Promise<ObjectClasses | null> {
  const ref = classes === null ? null : tryParseRef(classes.leaf)
  if (classes === null || ref === null || !isClassName(ref)) return classes
  const leaf = await classOf(database, principal, ref)
  if (leaf === null) return classes
  return { base: classes.base === classes.leaf ? leaf : classes.base, leaf }
}

function isClassName({ kind, steps: [step, ...others] }: Ref): boolean {
  return kind === "object" && others.length === 0 && step?.edge === "attr" && step.value === "_class_name"
}

/** null: no such version, or none that the caller may see. */
async function classOf(database: CatalogDatabase, principal: Principal, ref: Ref): Promise<string | null> {
  try {
    const project = await existingProject(database, principal, ref.project, "read")
    const name = { objectId: ref.name, version: ref.version, kind: "object" as const }
    return (await findVersion(database, project.id, name, false))?.leaf_object_class ?? null
  } catch (error) {
    if (error instanceof HeddleError && error.code === "project_not_found") return null
    throw error
  }
}
