/** Publishing an object: evaluation-store-objects 3.1. */
import type { z } from "zod"
import { HeddleError, invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { contentDigest } from "../../json/digests.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { publishObject, otherClasses } from "../../storage/catalog/objects.ts"
import type { objectCreateBody, objectCreated } from "../../wire/evaluation/object.ts"
import { builtinObject } from "./builtin-objects.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { RefProjects } from "../refs/internal-refs.ts"
import { inheritedClasses } from "./inherited-class.ts"
import { checkFileNames, checkObjectId, classesOf, isMap, kindOf, type ObjectClasses } from "./object-classes.ts"
import { type ProjectAccess, projectForWrite } from "../project-access.ts"

export type NewObject = z.output<typeof objectCreateBody>["obj"]

/** One row of the store. */
export const maximumRowBytes = 3.5 * 1024 * 1024

export interface PublishedVersion {
  objectId: string
  digest: string
  versionIndex: number
}

/** `text`: the JSON of `val`, or undefined when the request has none. */
export async function createObject(
  dependencies: EvaluationDependencies,
  principal: Principal,
  { obj, text }: { obj: NewObject; text: string | undefined },
): Promise<z.output<typeof objectCreated>> {
  if (text === undefined) throw invalid(["body", "obj", "val"], "Field required", "missing")
  const { digest, objectId } = await publishValue(dependencies, principal, obj, text)
  return { digest, object_id: objectId }
}

/** `text`: the JSON of the value. */
export async function publishValue(
  { database }: Pick<EvaluationDependencies, "database">,
  principal: Principal,
  obj: Omit<NewObject, "val">,
  text: string,
): Promise<PublishedVersion> {
  const { project, publication } = await prepare(database, principal, obj, text)
  const versionIndex = await publish(database, project, publication)
  return { objectId: obj.object_id, digest: publication.digest, versionIndex }
}

/**
 * For a value that is published after others of its request, which would stay when it is refused.
 * @throws {HeddleError} as {@link publishValue}.
 */
export async function checkPublishable(
  { database }: Pick<EvaluationDependencies, "database">,
  principal: Principal,
  obj: Omit<NewObject, "val">,
  text: string,
): Promise<void> {
  const { project, publication } = await prepare(database, principal, obj, text)
  const { objectId, value, classes } = publication
  const named = { objectId, kind: kindOf(value), baseObjectClass: classes?.base ?? null }
  const existing = await otherClasses(database, project.id, named)
  if (existing.length > 0) throw typeCollision(publication, existing)
}

async function prepare(
  database: EvaluationDependencies["database"],
  principal: Principal,
  obj: Omit<NewObject, "val">,
  text: string,
): Promise<{ project: ProjectAccess; publication: Publication }> {
  checkObjectId(obj.object_id)
  const processed = processValue(text, obj.builtin_object_class ?? obj.set_base_object_class ?? null)
  const project = await projectForWrite(database, principal, obj.project_id)
  const projects = new RefProjects(database, principal)
  const digest = contentDigest(await projects.canonical(processed.text))
  checkDigest(`object "${obj.object_id}"`, obj.expected_digest, digest)
  const val = withoutNotFinite(projects.external(processed.text))
  checkRowSize(`object "${obj.object_id}"`, val)
  const classes = await inheritedClasses(database, principal, processed.classes)
  return { project, publication: { objectId: obj.object_id, digest, val, value: processed.value, classes } }
}

interface ProcessedValue {
  /** As it came, unless the server completed it. */
  text: string
  value: unknown
  classes: ObjectClasses | null
}

function processValue(text: string, builtinClass: string | null): ProcessedValue {
  const value: unknown = JSON.parse(withoutNotFinite(text))
  checkFileNames(value)
  const classes = classesOf(value)
  if (builtinClass === null) return { text, value, classes }
  if (!isMap(value)) {
    throw new HeddleError(
      "value_error",
      `builtin_object_class "${builtinClass}" is for objects with fields; val is none`,
    )
  }
  if (classes === null) return builtinObject(builtinClass, text)
  if (classes.leaf === builtinClass) return { text, value, classes }
  throw new HeddleError(
    "value_error",
    `builtin_object_class "${builtinClass}" is not the class of val, which is "${classes.leaf}"`,
  )
}

/** @throws {HeddleError} `digest_mismatch`. */
export function checkDigest(what: string, expected: string | null | undefined, digest: string): void {
  if (expected == null || expected === digest) return
  throw new HeddleError(
    "digest_mismatch",
    `the digest of ${what} is ${digest} here, not ${expected} as the client says`,
  )
}

/** @throws {HeddleError} `insert_too_large`. */
export function checkRowSize(what: string, text: string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maximumRowBytes) return
  throw new HeddleError(
    "insert_too_large",
    `${what} has ${bytes} bytes; one row has at most ${maximumRowBytes}. Put large content into files or tables`,
  )
}

interface Publication {
  objectId: string
  digest: string
  val: string
  value: unknown
  classes: ObjectClasses | null
}

async function publish(
  database: EvaluationDependencies["database"],
  project: ProjectAccess,
  { objectId, digest, val, value, classes }: Publication,
): Promise<number> {
  const kind = kindOf(value)
  const baseObjectClass = classes?.base ?? null
  const leafObjectClass = classes?.leaf ?? null
  const version = { objectId, digest, kind, baseObjectClass, leafObjectClass, val, userId: project.userId }
  const result = await publishObject(database, project.id, version)
  if (result.published) return result.versionIndex
  throw typeCollision({ objectId, value, classes }, result.existingBaseObjectClasses)
}

function typeCollision(
  { objectId, value, classes }: Pick<Publication, "objectId" | "value" | "classes">,
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
        kind: kindOf(value),
        new_base_object_class: baseObjectClass,
        existing_base_object_classes: existing,
        object_name: classes !== null && isMap(value) && typeof value["name"] === "string" ? value["name"] : null,
      },
    },
  )
}

function described(baseObjectClass: string | null): string {
  return baseObjectClass === null ? "an object without a class" : `a ${baseObjectClass}`
}
