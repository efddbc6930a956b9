/** From the value of an object to what is stored of it, as a task that may run on another thread: evaluation-store-objects 3.1. */
import type { z } from "zod"
import { HeddleError, invalid } from "../errors.ts"
import { contentDigest } from "../json/digests.ts"
import type { JsonCursor } from "../json/json-cursor.ts"
import { withoutNotFinite } from "../json/json-parts.ts"
import { isJsonObject } from "../json/parsed-json.ts"
import type { ObjectKind } from "../storage/catalog/objects/objects-schema.ts"
import { threadTask } from "../threads/thread-task.ts"
import { objectCreateBody } from "../wire/objects/object.ts"
import { lookUp, findProjectId, ensureProjectId, type PayloadLookup } from "./payload/payload-lookups.ts"
import { RefNames } from "./refs/ref-names.ts"
import { bodyText, readText } from "./requests/request-text.ts"
import { builtinObject } from "./builtin/builtin-objects.ts"
import { checkDigest } from "./expected-digest.ts"
import { checkFileNames, checkObjectId, classesOf, kindOf, type ObjectClasses } from "./object-classes.ts"
import { checkRowSize } from "./row-size.ts"

export type NewObject = Omit<z.output<typeof objectCreateBody>["obj"], "val">

export interface SentObject {
  obj: NewObject
  /** The JSON of the value. */
  text: string
}

/** A whole body, or what the server itself publishes. */
export type PublicationInput = { mostProjects: number } & ({ bytes: Buffer } | SentObject)

export interface Publication {
  projectId: string
  objectId: string
  digest: string
  /** What the latest version must be for this one to follow it; null: there is none; undefined: whatever it is. */
  expectedLatest: string | null | undefined
  /** JSON text. */
  val: string
  kind: ObjectKind
  classes: ObjectClasses | null
  /** For an object of a class, the name that it gives itself. */
  name: string | null
}

/** @throws {HeddleError} 400, 403, 409, 413, 422. */
export const publicationTask = threadTask<PublicationInput, Publication, PayloadLookup, unknown>({
  name: "object",
  ownThreadBytes: 64 * 1024,
  *run(input) {
    const { obj, text } = "bytes" in input ? readObject(input.bytes) : input
    checkObjectId(obj.object_id)
    checkRowSize(`object "${obj.object_id}"`, text)
    const found = yield* findProjectId(obj.project_id)
    const processed = yield* processValue(text, obj.builtin_object_class ?? obj.set_base_object_class ?? null)
    const projectId = found ?? (yield* ensureProjectId(obj.project_id))
    const names = new RefNames(input.mostProjects)
    const digest = contentDigest(yield* names.canonical(processed.text))
    checkDigest(`object "${obj.object_id}"`, obj.expected_digest, digest)
    const val = withoutNotFinite(names.external(processed.text))
    checkRowSize(`object "${obj.object_id}"`, val)
    const { value, classes } = processed
    const name = classes !== null && isJsonObject(value) && typeof value["name"] === "string" ? value["name"] : null
    const { object_id: objectId, expected_latest: expectedLatest } = obj
    return { projectId, objectId, digest, expectedLatest, val, kind: kindOf(value), classes, name }
  },
})

function readObject(bytes: Buffer): SentObject {
  const { obj } = readText(objectCreateBody, bodyText(bytes), { "obj.val": (cursor: JsonCursor) => cursor.value() })
  if (obj.val === undefined) throw invalid(["body", "obj", "val"], "Field required", "missing")
  return { obj, text: obj.val as string }
}

interface ProcessedValue {
  /** As it came, unless the server completed it. */
  text: string
  value: unknown
  classes: ObjectClasses | null
}

function* processValue(text: string, builtinClass: string | null): Generator<PayloadLookup, ProcessedValue> {
  const value: unknown = JSON.parse(withoutNotFinite(text))
  checkFileNames(value)
  const classes = classesOf(value)
  if (builtinClass === null) return { text, value, classes }
  if (!isJsonObject(value)) {
    throw new HeddleError(
      "value_error",
      `builtin_object_class "${builtinClass}" is for objects with fields; val is none`,
    )
  }
  if (classes === null) {
    const { schema, ...built } = builtinObject(builtinClass, text)
    if (schema !== null) yield* lookUp("schema", { name: schema.place, schema: schema.text })
    return built
  }
  if (classes.leaf === builtinClass) return { text, value, classes }
  throw new HeddleError(
    "value_error",
    `builtin_object_class "${builtinClass}" is not the class of val, which is "${classes.leaf}"`,
  )
}
