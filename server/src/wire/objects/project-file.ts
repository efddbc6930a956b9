/** Files of a project: evaluation-store-calls 7. */
import { z } from "zod"
import { shownType } from "../shown-type.ts"

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

/** `type` and `name` are those of the answer; without them it is any bytes. */
export const shownFileQuery = z.object({
  project_id: z.string(),
  digest: z.string(),
  type: shownType.optional(),
  name: z.string().max(255).optional(),
})

export const projectFileStatsBody = z.object({ project_id: z.string() })

export const projectFileStats = z.object({ total_size_bytes: z.int() })

/** Digests, or refs of objects that hold a file. */
export const fileUrlsBody = z.object({ project_id: z.string(), uris: z.array(z.string()) })

/** In the order of the request. */
export const fileUrls = z.object({ download_urls: z.array(z.string()), expires_at: z.iso.datetime() })

export const downloadParams = z.object({ token: z.string() })
