/** Linking rows of datasets to calls, spans and conversations: evaluation-store-objects 10. */
import { createHash } from "node:crypto"
import type { z } from "zod"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import {
  type DatasetSourceLink,
  deleteLinks,
  findLinks,
  findMemberships,
  type ListedLink,
  listLinks,
  type NewDatasetSourceLink,
  putLinks,
  type SourceKey,
} from "../../storage/catalog/objects/dataset-sources.ts"
import type {
  datasetSourceQueryBody,
  datasetSourcesLinked,
  datasetSourcesUnlinked,
  datasetSourceUnlinkBody,
  sourceDatasets,
  sourceDatasetsBody,
} from "../../wire/objects/dataset-source.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { batchesOf } from "../batches.ts"
import { checkRange } from "../requests/list-range.ts"
import { ensureProject, existingProject, projectIfThere } from "../../access/project-access.ts"
import { isUuid } from "../../storage/catalog/identifiers.ts"
import { type LinkItem, type LinkRequest, mostLinks } from "./link-body.ts"
import { findSources, type FoundSource } from "./source-lookup.ts"

const mostRowDigests = 100
/** Everything of the request or nothing. */
export async function linkSources(
  dependencies: StoreDependencies,
  principal: Principal,
  body: LinkRequest,
): Promise<z.output<typeof datasetSourcesLinked>> {
  const requested = body.links
  await projectIfThere(dependencies.database, principal, body.project_id)
  for (const { source } of requested) checkSource(source)
  const project = await ensureProject(dependencies.database, principal, body.project_id)
  const found = await findSources(
    dependencies.traces,
    project,
    requested.map(({ source }) => source),
  )
  const links = requested.map((link, index) =>
    newLink(project, body.dataset_object_id, link, found[index] as FoundSource),
  )
  const byId = new Map(links.map((link) => [link.id, link]))
  const created = await putLinks(dependencies.database, project.id, [...byId.values()])
  const withStatus = body.include_created_status === true
  return { entries: links.map(({ id }) => ({ link_id: id, created: withStatus ? created.has(id) : null })) }
}

/** A span's id is one within its trace; a conversation has many traces. */
function checkSource({ source_kind, source_id, source_trace_id }: SourceKey): void {
  if (source_kind === "conversation" && source_trace_id !== "") {
    throw new HeddleError(
      "invalid_request",
      `the conversation "${source_id}" has the source_trace_id "${source_trace_id}"; a conversation spans traces, leave it empty`,
    )
  }
  if (source_kind === "span" && source_trace_id === "") {
    throw new HeddleError("invalid_request", `the span "${source_id}" needs its source_trace_id`)
  }
}

function newLink(
  { id: projectId, userId }: { id: string; userId: string },
  datasetObjectId: string,
  { rowDigest, source, metadata }: LinkItem,
  found: FoundSource,
): NewDatasetSourceLink {
  const key = [datasetObjectId, rowDigest, source.source_kind, source.source_id, found.traceId]
  return {
    id: idOf([projectId, ...key]),
    dataset_object_id: datasetObjectId,
    row_digest: rowDigest,
    source_kind: source.source_kind,
    source_id: source.source_id,
    source_trace_id: found.traceId,
    source_display_name: found.displayName,
    source_started_at: found.startedAt,
    link_metadata: metadata,
    added_by: userId,
  }
}

/** The same link made again has the same id: a UUID of version 8. */
function idOf(key: readonly string[]): string {
  const bytes = createHash("sha256").update(JSON.stringify(key)).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}

/** @throws {HeddleError} `invalid_request` when one was never there; nothing is deleted then. */
export async function unlinkSources(
  { database }: StoreDependencies,
  principal: Principal,
  { project_id, link_ids: ids }: z.output<typeof datasetSourceUnlinkBody>,
): Promise<z.output<typeof datasetSourcesUnlinked>> {
  if (ids.length > mostLinks) {
    throw new HeddleError("payload_too_large", `${ids.length} links in one request; name at most ${mostLinks}`)
  }
  const project = await existingProject(database, principal, project_id)
  const unknown = ids.find((id) => !isUuid(id))
  const requested = [...new Set(ids.map((id) => id.toLowerCase()))]
  const deleted = unknown === undefined ? await deleteLinks(database, project.id, requested) : null
  if (deleted !== null) return { entries: ids.map((id) => ({ link_id: id, deleted: deleted.has(id.toLowerCase()) })) }
  throw new HeddleError(
    "invalid_request",
    `${unknown === undefined ? "some of the links" : `the link "${unknown}"`} were not found in ${project_id}; nothing was deleted`,
  )
}

/** Limits of one batch of links; its size is in bytes of metadata. */
const batchLimits = { count: 1000, size: 8 * 1024 * 1024 }

/** JSON texts in batches: of the links that there are when the list begins, those that still are when it comes to them. */
export async function querySources(
  { database }: StoreDependencies,
  principal: Principal,
  body: z.output<typeof datasetSourceQueryBody>,
): Promise<AsyncGenerator<string[]>> {
  const range = checkRange(body)
  const project = await existingProject(database, principal, body.project_id)
  const withDeleted = body.include_deleted === true
  const listed = await listLinks(database, project.id, {
    datasetObjectId: body.dataset_object_id,
    rowDigests: body.row_digests ?? null,
    sourceKinds: body.source_kinds ?? null,
    withDeleted,
    ...range,
  })
  return linkTexts(database, project.id, listed, withDeleted)
}

async function* linkTexts(
  database: StoreDependencies["database"],
  projectId: string,
  listed: readonly ListedLink[],
  withDeleted: boolean,
): AsyncGenerator<string[]> {
  for (const batch of batchesOf(listed, batchLimits, ({ size_bytes }) => size_bytes)) {
    const links = await findLinks(
      database,
      projectId,
      batch.map(({ id }) => id),
    )
    yield links.filter(({ deleted_at }) => withDeleted || deleted_at === null).map(linkText)
  }
}

/** Its metadata as it came. */
function linkText(link: DatasetSourceLink): string {
  const { link_metadata: metadata, dataset_object_id: _dataset, ...rest } = link
  return `${JSON.stringify(rest).slice(0, -1)},"link_metadata":${metadata ?? "null"}}`
}

export async function querySourceDatasets(
  { database }: StoreDependencies,
  principal: Principal,
  { project_id, sources, include_deleted }: z.output<typeof sourceDatasetsBody>,
): Promise<z.output<typeof sourceDatasets>> {
  const project = await existingProject(database, principal, project_id)
  const settings = { withDeleted: include_deleted === true, mostRows: mostRowDigests }
  const found = await findMemberships(database, project.id, sources, settings)
  return {
    memberships: found.map(({ row_count, first_seen_at, ...membership }) => ({
      ...membership,
      row_digests_total_count: row_count,
      row_digests_truncated: row_count > mostRowDigests,
      first_seen_at: first_seen_at.toISOString(),
    })),
  }
}
