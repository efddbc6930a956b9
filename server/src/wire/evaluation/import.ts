/** Imports: guide/export. The body is the file. */
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

export type ImportReport = z.output<typeof importReport>
