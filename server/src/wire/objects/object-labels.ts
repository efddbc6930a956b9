/** Tags and aliases of object versions: evaluation-store-objects 2.7, 2.8 and 4. */
import { z } from "zod"
import { keyList } from "../bounded-list.ts"

/** `digest` is a content digest; nothing else is resolved here. */
export const versionParams = z.object({ object_id: z.string(), digest: z.string() })

export const objectParams = z.object({ object_id: z.string() })

export const tagsBody = z.object({ project_id: z.string(), tags: keyList })

export const aliasesSetBody = z.object({
  project_id: z.string(),
  /** Digest of the version that the aliases will name. */
  digest: z.string(),
  aliases: keyList,
})

export const aliasesRemoveBody = z.object({ project_id: z.string(), aliases: keyList })

export const labelsChanged = z.object({})

export const labelsQuery = z.object({ project_id: z.string() })

export const tagList = z.object({ tags: z.array(z.string()) })

export const aliasList = z.object({ aliases: z.array(z.string()) })
