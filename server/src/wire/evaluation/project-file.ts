/** Files of a project: evaluation-store-calls 7. */
import { z } from "zod"

/** A form; its parts come in any order. */
export const projectFileCreateBody = z.object({
  project_id: z.string(),
  file: z.string().meta({ format: "binary" }),
  expected_digest: z.string().optional(),
})

export const projectFileFields = projectFileCreateBody.omit({ file: true })

export const projectFileCreated = z.object({ digest: z.string() })

export const projectFileContentBody = z.object({ project_id: z.string(), digest: z.string() })

export const projectFileContent = z.string().meta({ format: "binary" })

export const projectFileStatsBody = z.object({ project_id: z.string() })

export const projectFileStats = z.object({ total_size_bytes: z.int() })
