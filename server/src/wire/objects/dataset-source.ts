/** Origins of dataset rows: evaluation-store-objects 10. Clients send more fields than these; they are ignored. */
import { z } from "zod"
import { boundedList, fieldList, keyList } from "../bounded-list.ts"
import { listRange } from "../queries/list-range.ts"
import { storable } from "../well-formed.ts"

const name = storable.max(256)
const filled = name.min(1)
const kind = z.enum(["call", "span", "conversation"])

const source = z.object({ source_kind: kind, source_id: filled, source_trace_id: name })

export const datasetSourceLinkBody = z.object({
  project_id: z.string(),
  dataset_object_id: filled,
  /** Not checked and not stored: links are of the name, whatever its version. */
  dataset_digest: z.string(),
  links: z.array(
    z.object({
      row_digest: filled,
      sources: z.array(source),
      link_metadata: z.record(z.string(), z.unknown()).nullish(),
    }),
  ),
  include_created_status: z.boolean().nullish(),
})

export const datasetSourcesLinked = z.object({
  /** One for each row and source, in order. */
  entries: z.array(z.object({ link_id: z.string(), created: z.boolean().nullable() })),
})

export const datasetSourceUnlinkBody = z.object({ project_id: z.string(), link_ids: z.array(z.string()) })

export const datasetSourcesUnlinked = z.object({
  entries: z.array(z.object({ link_id: z.string(), deleted: z.boolean() })),
})

export const datasetSourceQueryBody = z.object({
  project_id: z.string(),
  dataset_object_id: z.string(),
  row_digests: keyList.nullish(),
  source_kinds: fieldList(kind).nullish(),
  include_deleted: z.boolean().nullish(),
  ...listRange,
})

export const datasetSources = z.object({
  links: z.array(
    z.object({
      id: z.string(),
      row_digest: z.string(),
      source_kind: kind,
      source_id: z.string(),
      source_trace_id: z.string(),
      source_started_at: z.iso.datetime(),
      source_display_name: z.string(),
      link_metadata: z.record(z.string(), z.unknown()).nullable(),
      added_by: z.string(),
      created_at: z.iso.datetime(),
      updated_at: z.iso.datetime(),
      deleted_at: z.iso.datetime().nullable(),
    }),
  ),
})

export const sourceDatasetsBody = z.object({
  project_id: z.string(),
  sources: boundedList(source, 1000),
  include_deleted: z.boolean().nullish(),
})

export const sourceDatasets = z.object({
  memberships: z.array(
    z.object({
      source_kind: kind,
      source_id: z.string(),
      source_trace_id: z.string(),
      dataset_object_id: z.string(),
      row_digests: z.array(z.string()),
      row_digests_total_count: z.int(),
      row_digests_truncated: z.boolean(),
      first_seen_at: z.iso.datetime(),
    }),
  ),
})
