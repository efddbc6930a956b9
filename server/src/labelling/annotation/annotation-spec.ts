/** The object that an annotation is made with: evaluation-store-objects 2.3. */
import { HeddleError } from "../../errors.ts"
import { findVersion } from "../../storage/catalog/objects/object-reads.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { checkRef } from "../../objects/refs/refs.ts"

/** JSON text of the spec. `projectId`: of the catalog. @throws {HeddleError} `invalid_request` when the project has no such object, or has it no more. */
export async function findAnnotationSpec(
  database: CatalogDatabase,
  projectId: string,
  annotationRef: string,
): Promise<string> {
  const { name, version } = checkRef(annotationRef, "annotation_ref", ["object"])
  const found = await findVersion(database, projectId, { objectId: name, version, kind: "object" }, true)
  if (found === null || found.deleted_at !== null || found.val === null) {
    throw new HeddleError("invalid_request", `Annotation ref ${annotationRef} not found`)
  }
  return found.val
}
