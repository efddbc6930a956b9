/** Size and settings of a project: evaluation-store-objects 10. */
import { z } from "zod"

/** true unless said otherwise. */
const flag = z.boolean().nullish()

export const projectStatsBody = z.looseObject({
  project_id: z.string(),
  include_trace_storage_size: flag,
  include_object_storage_size: flag,
  include_table_storage_size: flag,
  include_file_storage_size: flag,
})

const bytes = z.int().min(0)

/** 0 for what was not asked for. */
export const projectStatsAnswer = z.object({
  trace_storage_size_bytes: bytes,
  objects_storage_size_bytes: bytes,
  tables_storage_size_bytes: bytes,
  files_storage_size_bytes: bytes,
})

export const projectBody = z.looseObject({ project_id: z.string() })
export const projectQuery = z.looseObject({ project_id: z.string() })

/** A hundred years: the times of calls reach as far. */
export const mostRetentionDays = 36_500

const noRetention = {
  error: ({ input }: { input: unknown }) =>
    `${JSON.stringify(input)} is no whole number of days from 1 to ${mostRetentionDays}; null keeps calls until they are deleted`,
}

export const retentionBody = z.looseObject({
  project_id: z.string(),
  /** null: calls are kept until they are deleted. */
  retention_days: z
    .number(noRetention)
    .int({ ...noRetention, abort: true })
    .min(1, noRetention)
    .max(mostRetentionDays, noRetention)
    .nullish(),
})

export const retentionAnswer = z.object({ retention_days: z.int().min(1).max(mostRetentionDays).nullable() })

export const ingestSamplingAnswer = z.object({ dry_run: z.boolean(), sample_rate: z.number() })

export const sensitiveDataAnswer = z.object({ policy: z.enum(["off", "pii-v1"]) })
