/** Imports: docs/guide/export.md. The body is the file. */
import { z } from "zod"
import { exportFormat } from "./export.ts"

export const importQuery = z.object({
  project_id: z.string(),
  format: exportFormat.default("jsonl"),
  /** `entity/project`: refs into it become refs into the project of the import. */
  moved_from: z.string().min(1).optional(),
})

/** Rows with an error are left out, the others are stored. */
export const importReport = z.object({
  imported: z.int(),
  failed: z.int(),
  /** The first hundred. */
  errors: z.array(
    z.object({
      /** From 1; the header of a CSV file does not count. */
      row: z.int(),
      column: z.string().nullable(),
      value: z.string().nullable(),
      message: z.string(),
    }),
  ),
})

export const importDatasetQuery = importQuery.extend({
  /** A dataset of this name gets a new version; without one there is only the table. */
  name: z.string().optional(),
  description: z.string().optional(),
})

/** One row with an error, and nothing is stored: the digests are null. */
export const importDatasetReport = importReport.extend({
  table_digest: z.string().nullable(),
  object_id: z.string().nullable(),
  digest: z.string().nullable(),
  version_index: z.int().nullable(),
})

export type ImportReport = z.output<typeof importReport>
