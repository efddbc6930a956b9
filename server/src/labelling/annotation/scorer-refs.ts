/** Annotation specs and scorers that a queue asks its annotators for. They must be published first. */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { liveVersion } from "../../objects/object-read.ts"
import { existingProject } from "../../access/project-access.ts"
import { asObjectRef } from "../../wire/labelling/annotation-queue.ts"
import { type Ref, refPrefix, tryParseRef, versionNameOf } from "../../objects/refs/refs.ts"

/**
 * Labels for a spec that is not there, or is another project's, are refused one by one, so a queue with one is refused at once.
 * @throws {HeddleError} `invalid_request` for what is no ref of an object, and for another project's spec; `not_found`,
 * `object_deleted`: each names the ref.
 */
export async function requireScorers(
  database: CatalogDatabase,
  principal: Principal,
  projectName: string,
  refs: readonly string[],
): Promise<void> {
  for (const text of new Set(refs)) {
    const ref = scorerRef(text)
    try {
      const { id, name } = await existingProject(database, principal, ref.project, "read")
      const { base_object_class: base } = await liveVersion(database, id, versionNameOf(ref), false)
      if (base === "AnnotationSpec" && name !== projectName) {
        throw new HeddleError(
          "invalid_request",
          `it is of ${name}, and labels are given for specs of ${projectName} alone`,
        )
      }
    } catch (error) {
      if (!(error instanceof HeddleError)) throw error
      // A project that the caller may not see holds nothing for them.
      const code = error.code === "project_not_found" ? "not_found" : error.code
      const message = `scorer_refs "${text}": ${error.message}. Publish it, then name it in the queue`
      throw new HeddleError(code, message, { ...error.details, cause: error })
    }
  }
}

/** Of an object or an op. */
function scorerRef(text: string): Ref {
  const ref = tryParseRef(asObjectRef(text))
  if (ref !== null && (ref.kind === "object" || ref.kind === "op")) return ref
  throw new HeddleError(
    "invalid_request",
    `scorer_refs "${text}" is not a ref ${refPrefix}<entity>/<project>/object/<name>:<version>`,
  )
}
