/** Objects that an execution is made of: prompts, providers, models, scorers, evaluations. */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { parseExact } from "../../json/exact-json.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { liveVersion } from "../../objects/object-read.ts"
import { type ProjectAccess, existingProject } from "../../access/project-access.ts"
import { formatRef, parseRef, refPrefix, versionNameOf } from "../../objects/refs/refs.ts"
import type { VersionName } from "../../storage/catalog/objects/object-reads.ts"

export interface PublishedObject {
  /** Names the version by its digest. */
  ref: string
  name: string
  digest: string
  kind: "op" | "object"
  baseClass: string | null
  leafClass: string | null
  /** As {@link parseExact} gives it. */
  value: Record<string, unknown>
  project: ProjectAccess
}

/** @throws {HeddleError} 400 no ref of an object or op, or an object without fields; 403; 404. */
export async function readPublished(
  database: CatalogDatabase,
  principal: Principal,
  text: string,
): Promise<PublishedObject> {
  const ref = parseRef(text)
  if ((ref.kind !== "object" && ref.kind !== "op") || ref.steps.length > 0) {
    throw new HeddleError(
      "value_error",
      `"${text}" does not name an object or op: ${refPrefix}<entity>/<project>/object/<name>:<version>`,
    )
  }
  const project = await existingProject(database, principal, ref.project, "read")
  return publishedVersion(database, project, versionNameOf(ref))
}

/** An object's before an op's of the same name. @throws {HeddleError} 400, 404. */
export function publishedObject(
  database: CatalogDatabase,
  project: ProjectAccess,
  objectId: string,
  version: string,
): Promise<PublishedObject> {
  return publishedVersion(database, project, { objectId, version, preferred: "object" })
}

async function publishedVersion(
  database: CatalogDatabase,
  project: ProjectAccess,
  versionName: VersionName,
): Promise<PublishedObject> {
  const { objectId, version } = versionName
  const record = await liveVersion(database, project.id, versionName, true)
  const value = parseExact(record.val ?? "null")
  if (!isJsonObject(value)) {
    throw new HeddleError("value_error", `the object "${objectId}:${version}" has no fields, so it cannot be run`)
  }
  return {
    ref: formatRef(project.name, record.kind, objectId, record.digest),
    name: objectId,
    digest: record.digest,
    kind: record.kind,
    baseClass: record.base_object_class,
    leafClass: record.leaf_object_class,
    value,
    project,
  }
}
