/** Addresses of artifacts' files: platform-wandb 1. */
import { z } from "zod"
import { shownType } from "../shown-type.ts"

export const artifactLinkParams = z.object({ token: z.string() })
export const artifactContent = z.string().meta({ format: "binary" })
export const artifactStored = z.object({ bytes: z.int() })

/** The file by its digest, with the key: what the client asks when an address has ended. */
export const artifactFileParams = z.object({
  region: z.string().describe("Where the hosted service keeps files; any text here"),
  entity: z.string(),
  birth: z.string().describe("The artifact with which the file came"),
  digest: z.string().describe("MD5 in hexadecimal digits"),
})
/** `type` is that of the answer; without it the file is any bytes. */
export const shownArtifactFileQuery = z.object({ type: shownType.optional() })
export const namedArtifactFileParams = artifactFileParams.extend({
  project: z.string(),
  collection: z.string().describe("As the client names it; the digest alone decides"),
  file: z.string(),
})
export const fullArtifactFileParams = namedArtifactFileParams.extend({
  artifact: z.string().describe("As the client names it; the digest alone decides"),
})
