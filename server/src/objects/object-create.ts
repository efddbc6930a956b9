/** Publishing an object: evaluation-store-objects 3.1. */
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { publishObject, otherClasses } from "../storage/catalog/objects/objects.ts"
import { type PayloadDependencies, runPayloadTask } from "./payload/run-payload-task.ts"
import { requireActingRight } from "./acting-classes.ts"
import { inheritedClasses } from "./inherited-class.ts"
import { type NewObject, type Publication, publicationTask } from "./publication-task.ts"

export interface PublishedVersion {
  /** Of the catalog. */
  projectId: string
  objectId: string
  digest: string
  versionIndex: number
  leafClass: string | null
}

/** Publishes the object that the body of a request is. */
export async function createObject(
  dependencies: PayloadDependencies,
  principal: Principal,
  bytes: Buffer,
): Promise<PublishedVersion> {
  const input = { bytes, mostProjects: dependencies.limits.request_projects }
  const options = { bytes: bytes.length }
  return publish(
    dependencies,
    principal,
    await runPayloadTask(dependencies, principal, publicationTask, input, options),
  )
}

/** `text`: the JSON of the value. */
export async function publishValue(
  dependencies: PayloadDependencies,
  principal: Principal,
  obj: NewObject,
  text: string,
): Promise<PublishedVersion> {
  return publish(dependencies, principal, await publicationOf(dependencies, principal, obj, text))
}

/**
 * For a value that is published after others of its request, which would stay when it is refused.
 * @throws {HeddleError} as {@link publishValue}.
 */
export async function checkPublishable(
  dependencies: PayloadDependencies,
  principal: Principal,
  obj: NewObject,
  text: string,
): Promise<void> {
  const publication = await publicationOf(dependencies, principal, obj, text)
  const { projectId, objectId, kind } = publication
  const classes = await inheritedClasses(dependencies.database, principal, publication.classes)
  await requireActingRight(dependencies.database, principal, { projectId, objectId, kind, classes })
  const named = { objectId, kind, baseObjectClass: classes?.base ?? null }
  const existing = await otherClasses(dependencies.database, projectId, named)
  if (existing.length > 0) throw typeCollision({ ...publication, classes }, existing)
}

function publicationOf(
  dependencies: PayloadDependencies,
  principal: Principal,
  obj: NewObject,
  text: string,
): Promise<Publication> {
  const input = { obj, text, mostProjects: dependencies.limits.request_projects }
  return runPayloadTask(dependencies, principal, publicationTask, input, { bytes: text.length })
}

async function publish(
  { database }: PayloadDependencies,
  principal: Principal,
  publication: Publication,
): Promise<PublishedVersion> {
  const { projectId, objectId, digest, expectedLatest, val, kind } = publication
  const classes = await inheritedClasses(database, principal, publication.classes)
  await requireActingRight(database, principal, { projectId, objectId, kind, classes })
  const baseObjectClass = classes?.base ?? null
  const leafObjectClass = classes?.leaf ?? null
  const version = { objectId, digest, kind, baseObjectClass, leafObjectClass, val, userId: principal.userId }
  const result = await publishObject(database, projectId, version, expectedLatest)
  if (result.published)
    return { projectId, objectId, digest, versionIndex: result.versionIndex, leafClass: leafObjectClass }
  if ("latest" in result) throw overtaken(objectId, expectedLatest ?? null, result.latest)
  throw typeCollision({ ...publication, classes }, result.existingBaseObjectClasses)
}

function overtaken(objectId: string, expected: string | null, latest: string | null): HeddleError {
  const is = latest === null ? `"${objectId}" has no version` : `the latest version of "${objectId}" is ${latest}`
  const said = expected === null ? "there is none" : `it is ${expected}`
  return new HeddleError("conflict", `${is}, and expected_latest says that ${said}: read it and publish again`)
}

function typeCollision(
  { objectId, kind, classes, name }: Publication,
  existing: readonly (string | null)[],
): HeddleError {
  const baseObjectClass = classes?.base ?? null
  return new HeddleError(
    "object_type_collision",
    `Cannot publish "${objectId}" as ${described(baseObjectClass)}: that name is already used by ` +
      `${existing.map(described).join(" or ")} in this project. Publish it under a different name`,
    {
      extras: {
        object_id: objectId,
        kind,
        new_base_object_class: baseObjectClass,
        existing_base_object_classes: existing,
        object_name: name,
      },
    },
  )
}

function described(baseObjectClass: string | null): string {
  return baseObjectClass === null ? "an object without a class" : `a ${baseObjectClass}`
}
