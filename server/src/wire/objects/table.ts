/** Tables: evaluation-store-calls 6.2. Clients send more fields than these; they are ignored. */
import { z } from "zod"
import { wellFormed } from "../well-formed.ts"
import { keyList } from "../bounded-list.ts"
import { listRange } from "../queries/list-range.ts"
import { sortKeys } from "../queries/query.ts"

const digest = wellFormed
const given = z.custom<unknown>((value) => value !== undefined, "Field required")

export const tableCreateBody = z.object({
  table: z.object({
    project_id: z.string(),
    /** Objects. */
    rows: z.array(given),
    expected_digest: digest.nullish(),
  }),
})

export const tableCreated = z.object({ digest, row_digests: z.array(digest) })

const tableUpdate = z.union([
  z.object({ append: z.object({ row: given }) }),
  z.object({ pop: z.object({ index: z.int() }) }),
  z.object({ insert: z.object({ index: z.int(), row: given }) }),
])

export const tableUpdateBody = z.object({ project_id: z.string(), base_digest: digest, updates: z.array(tableUpdate) })

export const tableUpdated = z.object({ digest, updated_row_digests: z.array(digest) })

export const tableFromDigestsBody = z.object({
  project_id: z.string(),
  row_digests: z.array(digest),
  expected_digest: digest.nullish(),
})

export const tableFromDigests = z.object({ digest })

export const tableQueryBody = z.object({
  project_id: z.string(),
  digest,
  filter: z.object({ row_digests: keyList.nullish() }).nullish(),
  ...listRange,
  /** Dotted paths into the rows. */
  sort_by: sortKeys.nullish(),
})

export const tableRow = z.object({ digest, val: z.unknown(), original_index: z.int() })

export const tableRows = z.object({ rows: z.array(tableRow) })

export const tableStatsBody = z.object({ project_id: z.string(), digest })

export const tableStats = z.object({ count: z.int() })

export const tableStatsBatchBody = z.object({
  project_id: z.string(),
  digests: keyList.nullish(),
  include_storage_size: z.boolean().nullish(),
})

export const tableStatsBatch = z.object({
  tables: z.array(z.object({ digest, count: z.int(), storage_size_bytes: z.int().nullable() })),
})
