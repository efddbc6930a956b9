/** Reads the object that an annotation is made with. */
import { HeddleError } from "../errors.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { ProjectAccess } from "./project-access.ts"

/** JSON text of the spec. @throws {HeddleError} `invalid_request` when the project has no such object. */
export async function findAnnotationSpec(
  _database: CatalogDatabase,
  _project: ProjectAccess,
  annotationRef: string,
): Promise<string> {
  throw new HeddleError("invalid_request", `Annotation ref ${annotationRef} not found`)
}
