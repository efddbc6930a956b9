/** Reading and deleting objects: evaluation-store-objects 3.2 to 3.4. */
import type { z } from "zod"
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { audited, manyDeleted } from "../storage/catalog/accounts/audit-logs.ts"
import { usageOf } from "../storage/team-usage.ts"
import { deleteVersions } from "../storage/catalog/objects/objects.ts"
import type { ObjectKind } from "../storage/catalog/objects/objects-schema.ts"
import {
  findVersion,
  findVersions,
  labelsOf,
  listVersions,
  type ObjectFilter,
  type ObjectVersionRecord,
  type VersionLabels,
  type VersionName,
} from "../storage/catalog/objects/object-reads.ts"
import type { objectDeleteBody, objectQueryBody, objectReadBody, objectsDeleted } from "../wire/objects/object.ts"
import { checkRange } from "./requests/list-range.ts"
import { existingProject } from "../access/project-access.ts"
import { withValues } from "./version-values.ts"

const maximumDeletions = 100

/** The body of the answer. */
export async function readObject(
  database: CatalogDatabase,
  principal: Principal,
  body: z.output<typeof objectReadBody>,
): Promise<string> {
  const project = await existingProject(database, principal, body.project_id)
  const name = { objectId: body.object_id, version: body.digest }
  const record = await liveVersion(database, project.id, name, body.metadata_only !== true)
  const labels = body.include_tags_and_aliases === true ? await labelsOf(database, project.id, [record]) : null
  return `{"obj":${objectText(record, { project: project.name, labels: labels?.(record) ?? null, withSize: false })}}`
}

/** @throws {HeddleError} `not_found`; `object_deleted` for one that was there. */
export async function liveVersion(
  database: CatalogDatabase,
  projectId: string,
  name: VersionName,
  withVal: boolean,
): Promise<ObjectVersionRecord> {
  const record = await findVersion(database, projectId, name, withVal)
  if (record === null) throw versionNotFound(name)
  if (record.deleted_at !== null) throw objectDeleted(record, record.deleted_at)
  return record
}

export function versionNotFound({ objectId, version }: VersionName): HeddleError {
  return new HeddleError("not_found", `Obj ${objectId}:${version} not found`)
}

/** The clients do not try again when the reason says that it was deleted. */
function objectDeleted(record: ObjectVersionRecord, deletedAt: Date): HeddleError {
  const at = deletedAt.toISOString()
  return new HeddleError("object_deleted", `${record.object_id}:v${record.version_index} was deleted at ${at}`, {
    extras: { deleted_at: at },
  })
}

/** JSON texts in batches. */
export async function queryObjects(
  database: CatalogDatabase,
  principal: Principal,
  body: z.output<typeof objectQueryBody>,
): Promise<AsyncGenerator<string[]>> {
  const range = checkRange(body)
  const project = await existingProject(database, principal, body.project_id)
  const listed = await listVersions(database, project.id, {
    filter: filterOf(body),
    order: (body.sort_by ?? []).flatMap(({ field, direction }) => (isSortField(field) ? [{ field, direction }] : [])),
    ...range,
  })
  const labels = body.include_tags_and_aliases === true ? await labelsOf(database, project.id, listed) : null
  const withSize = body.include_storage_size === true
  const show = (record: ObjectVersionRecord) =>
    objectText(record, { project: project.name, labels: labels?.(record) ?? null, withSize })
  return formatted(body.metadata_only === true ? [listed] : withValues(database, project.id, listed), show)
}

async function* formatted(
  batches: Iterable<readonly ObjectVersionRecord[]> | AsyncIterable<readonly ObjectVersionRecord[]>,
  show: (record: ObjectVersionRecord) => string,
): AsyncGenerator<string[]> {
  for await (const records of batches) yield records.map(show)
}

function isSortField(field: string): field is "object_id" | "created_at" {
  return field === "object_id" || field === "created_at"
}

/** Every version of the project, narrowed by the filter of a request. */
export function filterOf({ filter }: z.output<typeof objectQueryBody>): ObjectFilter {
  return {
    baseObjectClasses: filter?.base_object_classes ?? [],
    excludeBaseObjectClasses: filter?.exclude_base_object_classes ?? [],
    leafObjectClasses: filter?.leaf_object_classes ?? [],
    objectIds: filter?.object_ids ?? [],
    isOp: filter?.is_op ?? null,
    latestOnly: filter?.latest_only === true,
    tags: filter?.tags ?? [],
    aliases: filter?.aliases ?? [],
  }
}

interface Showing {
  project: string
  labels: VersionLabels | null
  withSize: boolean
}

/** JSON of a version; its value as it came. */
function objectText(record: ObjectVersionRecord, { project, labels, withSize }: Showing): string {
  const { val, size_bytes, created_at, is_latest, ...same } = record
  const aliases = labels === null ? null : [...(is_latest ? ["latest"] : []), ...labels.aliases]
  const fields = {
    project_id: project,
    ...same,
    created_at: created_at.toISOString(),
    is_latest: is_latest ? 1 : 0,
    size_bytes: withSize ? size_bytes : null,
    tags: labels?.tags ?? null,
    aliases,
  }
  return `${JSON.stringify(fields).slice(0, -1)},"val":${val ?? "{}"}}`
}

/** Which versions of a name are meant. */
export interface ObjectSelection {
  kind: ObjectKind
  /** null: of any class. */
  baseObjectClass: string | null
}

/** `among`: only these versions count; null: all. */
export async function deleteObject(
  database: CatalogDatabase,
  principal: Principal,
  { project_id, object_id: objectId, digests }: z.output<typeof objectDeleteBody>,
  among: ObjectSelection | null = null,
): Promise<z.output<typeof objectsDeleted>> {
  const names = [...new Set(digests ?? [])]
  if (names.length > maximumDeletions) {
    throw new HeddleError(
      "value_error",
      `Object delete request contains ${names.length} versions. Delete ${maximumDeletions} or fewer at a time`,
    )
  }
  const project = await existingProject(database, principal, project_id)
  const found = await liveDigests(database, project.id, { objectId, names, among })
  if (found.length === 0 || found.length < names.length) throw nothingDeleted(objectId, names.length, found.length)
  const deleted = await audited(database, principal, async (transaction, record) => {
    const gone = await deleteVersions(transaction, project.id, objectId, found)
    // Another request deleted them in between.
    if (gone.length === 0) throw nothingDeleted(objectId, names.length, 0)
    const { ids, count } = manyDeleted(gone.map(({ digest }) => digest))
    const details = { project: project.project, digests: ids, count }
    await record({ type: "object.deleted", team: project.entity, resourceId: objectId, details })
    return gone
  })
  const givenBack = deleted.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  usageOf(database)?.ofProject(project.id, -givenBack)
  const deleted_versions = deleted.map(({ size_bytes: _size, ...version }) => version)
  return { num_deleted: deleted.length, deleted_versions }
}

function nothingDeleted(objectId: string, requested: number, found: number): HeddleError {
  const what = requested === 0 ? "no versions" : `${found} of ${requested} versions`
  return new HeddleError("not_found", `Object ${objectId}: ${what} found to delete; nothing was deleted`)
}

interface NamedVersions {
  objectId: string
  /** None: every version. */
  names: readonly string[]
  among: ObjectSelection | null
}

async function liveDigests(
  database: CatalogDatabase,
  projectId: string,
  { objectId, names, among }: NamedVersions,
): Promise<string[]> {
  if (names.length === 0) {
    const filter = { ...filterOf({ project_id: projectId }), ...selected(among), objectIds: [objectId] }
    const listing = { filter, order: [], limit: null, offset: 0 }
    return (await listVersions(database, projectId, listing)).map(({ digest }) => digest)
  }
  const kind = among === null ? {} : { kind: among.kind }
  const requested = names.map((version) => ({ objectId, version, ...kind }))
  const versions = await findVersions(database, projectId, requested, false)
  const live = versions.filter((found) => found !== null && found.deleted_at === null && isAmong(found, among))
  return [...new Set(live.map((found) => (found as ObjectVersionRecord).digest))]
}

export function isAmong(version: ObjectVersionRecord, among: ObjectSelection | null): boolean {
  if (among === null) return true
  if (version.kind !== among.kind) return false
  return among.baseObjectClass === null || version.base_object_class === among.baseObjectClass
}

/** The part of a filter that a selection is. */
export function selected(among: ObjectSelection | null): Partial<ObjectFilter> {
  if (among === null) return {}
  const { kind, baseObjectClass } = among
  return { isOp: kind === "op", baseObjectClasses: baseObjectClass === null ? [] : [baseObjectClass] }
}
