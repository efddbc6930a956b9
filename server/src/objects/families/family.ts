/** Common parts of datasets, models, ops, scorers and evaluations: evaluation-store-objects 7. */
import type { z } from "zod"
import { HeddleError, invalid } from "../../errors.ts"
import { membersOf } from "../../json/json-members.ts"
import type { ObjectVersionRecord } from "../../storage/catalog/objects/object-reads.ts"
import type { familyParams } from "../../wire/objects/object-families.ts"
import type { PublishedVersion } from "../object-create.ts"
import type { ObjectSelection } from "../object-read.ts"
import { formatRef } from "../refs/refs.ts"

/** The file that holds the source code of an op or model. */
export const sourceFileName = "obj.py"

export interface FamilyMember {
  record: ObjectVersionRecord
  val: Record<string, unknown>
  /** The JSON of `val` as it came. */
  text: string
}

export interface ObjectFamily {
  /** As in the path: `datasets`. */
  name: string
  /** One of them, for summaries. */
  noun: string
  tag: string
  selection: ObjectSelection
  /** Whether its answers show source code. */
  hasSource: boolean
  /** Sort order of a list that is returned in pages. */
  pagedOrder: readonly { field: "object_id" | "created_at"; direction: "asc" | "desc" }[]
  response: z.ZodType
  /** The JSON that a read or list answers. `source`: what the file `obj.py` holds; empty without one. */
  show: (member: FamilyMember, source: string) => string
}

/** `entity/project` of a path. */
export function projectNameOf({ entity, project }: z.output<typeof familyParams>): string {
  return `${entity}/${project}`
}

/** The object's name made of the name that a person gave (evaluation-store-objects 2.2). @throws {HeddleError} `invalid_field`: it is blank. */
export function objectIdOf(name: string): string {
  if (name.trim() === "")
    throw new HeddleError(
      "invalid_field",
      `the name ${JSON.stringify(name)} is blank: name at least one character that is no space`,
    )
  return name.replaceAll(/[ /]/g, "_").replaceAll(/[<>]/g, "").toLowerCase()
}

/** As every create answers. */
export function createdVersion({ objectId, digest, versionIndex }: PublishedVersion) {
  return { digest, object_id: objectId, version_index: versionIndex }
}

export function refOf(kind: "object" | "op", projectName: string, { objectId, digest }: PublishedVersion): string {
  return formatRef(projectName, kind, objectId, digest)
}

export function versionFields({ object_id, digest, version_index, created_at }: ObjectVersionRecord) {
  return { object_id, digest, version_index, created_at: created_at.toISOString() }
}

/** An object that the SDK published may have no name of its own. */
export function describedFields({ record, val }: FamilyMember) {
  return {
    ...versionFields(record),
    name: textOr(val["name"], record.object_id),
    description: textOr(val["description"], null),
  }
}

export function textOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === "string" ? value : otherwise
}

/** The JSON of `fields` with the members of the object `attributes` after them, as these came. */
export function withAttributes(fields: object, attributes: string | null): string {
  const text = JSON.stringify(fields)
  const inner = (attributes ?? "{}").trim().slice(1, -1)
  return inner.trim() === "" ? text : `${text.slice(0, -1)},${inner}}`
}

/** `text`: JSON of an object. @throws {HeddleError} 422 for an attribute that has the name of a field. */
export function checkAttributes(
  fieldNames: ReadonlySet<string>,
  { name: place, text }: { name: string; text: string | null },
): void {
  for (const [name] of membersOf(text ?? "{}")) {
    if (!fieldNames.has(name)) continue
    throw invalid(["body", place, name], `"${name}" is a field of the server; give the attribute another name`)
  }
}

/** @throws {HeddleError} 422 for half a surrogate pair, which no file can hold. */
export function checkSource(name: string, source: string): void {
  if (!source.isWellFormed()) throw invalid(["body", name], "the source code is not well-formed Unicode")
}
