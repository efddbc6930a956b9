/** Inputs of the GraphQL mutations about artifacts: platform-wandb 4, 9. Unknown members are the newer clients'. */
import { z } from "zod"
import { storable as text } from "../well-formed.ts"
import { leadsInside } from "./leads-inside.ts"

/** Name of a collection or type: `:` and `/` divide a version's name. */
export const artifactName = text
  .min(1)
  .max(128)
  .refine((name) => !/[/:]/.test(name), "may not have / or :")

export const artifactAlias = text
  .min(1)
  .max(128)
  .refine((alias) => !/[/:]/.test(alias), "may not have / or :")
  .refine((alias) => !/^v\d+$/.test(alias), "is the name of a version: v and a number are given by the server")

const tag = z.looseObject({
  tagName: text.max(128).regex(/^[-\w]+(?: [-\w ]*)?$/u, "has other characters than letters, digits, spaces, _ and -"),
})
const tags = z.array(tag).max(1000)
const aliases = z.array(z.looseObject({ alias: artifactAlias }))
/** As the client writes a digest of a whole artifact. */
const hexDigest = z.string().regex(/^[0-9a-f]{32}$/, "is not an MD5 in hexadecimal digits")
/** And one of a file. */
const base64Digest = z.string().regex(/^[A-Za-z0-9+/]{22}==$/, "is not an MD5 in base64")
const longText = text.max(1024 * 1024)

const names = { entityName: z.string().nullish(), projectName: z.string().nullish() }

export const createArtifactInput = z.looseObject({
  ...names,
  runName: z.string().nullish(),
  artifactTypeName: artifactName,
  artifactCollectionName: artifactName.nullish(),
  artifactCollectionNames: z.array(artifactName).max(1).nullish(),
  digest: hexDigest,
  digestAlgorithm: z.literal("MANIFEST_MD5", "is another than MANIFEST_MD5, the only one here").nullish(),
  description: longText.nullish(),
  aliases: aliases.max(1000).nullish(),
  tags: tags.nullish(),
  metadata: longText.nullish(),
  ttlDurationSeconds: z.int().min(-2).nullish(),
  historyStep: z.int().min(0).nullish(),
  enableDigestDeduplication: z.boolean().nullish(),
  distributedID: text.max(1000).nullish(),
  clientID: text.max(1000).nullish(),
})

export const createManifestInput = z.looseObject({
  artifactID: z.string(),
  baseArtifactID: z.string().nullish(),
  name: z.string(),
  digest: z.union([z.literal(""), base64Digest]),
  type: z.enum(["FULL", "INCREMENTAL", "PATCH"]).nullish(),
})

export const updateManifestInput = z.looseObject({
  artifactManifestID: z.string(),
  digest: base64Digest.nullish(),
  baseArtifactID: z.string().nullish(),
})

/** Inside an artifact, as the manifest has it. */
export const entryPath = text.min(1).max(4096).refine(leadsInside, "is not a path inside the artifact")

const mostParts = 10_000

/** Each part once: what was stored and counted once, and is named ten thousand times, would fill the disk. */
const partsInput = z
  .array(z.looseObject({ partNumber: z.int().min(1).max(mostParts), hexMD5: hexDigest }))
  .max(mostParts)
  .superRefine((parts, context) => {
    const seen = new Set<number>()
    const twice = parts.find(({ partNumber }) => seen.size === seen.add(partNumber).size)
    if (twice === undefined) return
    const message = `names part ${twice.partNumber} twice; name each part of the file once`
    context.addIssue({ code: "custom", message })
  })

export const createFilesInput = z.looseObject({
  artifactFiles: z
    .array(
      z.looseObject({
        artifactID: z.string(),
        name: entryPath,
        md5: base64Digest,
        uploadPartsInput: partsInput.nullish(),
      }),
    )
    .max(10_000),
})

export const completeUploadInput = z.looseObject({
  completeMultipartAction: z.enum(["Complete", "Abort"]),
  completedParts: partsInput,
  artifactID: z.string(),
  uploadID: z.string(),
})

export const artifactIdInput = z.looseObject({ artifactID: z.string() })
export const deleteArtifactInput = artifactIdInput.extend({ deleteAliases: z.boolean().nullish() })

export const useArtifactInput = artifactIdInput.extend({ ...names, runName: z.string() })

export const aliasesInput = artifactIdInput.extend({
  aliases: z.array(z.looseObject({ ...names, alias: artifactAlias, artifactCollectionName: z.string() })).max(1000),
})

export const updateArtifactInput = artifactIdInput.extend({
  description: longText.nullish(),
  metadata: longText.nullish(),
  ttlDurationSeconds: z.int().min(-2).nullish(),
  tagsToAdd: tags.nullish(),
  tagsToDelete: tags.nullish(),
  aliases: aliases.nullish(),
})

export const linkArtifactInput = z.looseObject({
  ...names,
  artifactID: z.string().nullish(),
  clientID: z.string().nullish(),
  artifactPortfolioName: artifactName,
  aliases: aliases.nullish(),
})

export const unlinkArtifactInput = artifactIdInput.extend({ artifactPortfolioID: z.string() })

/** A sequence or a portfolio, which have inputs of their own. */
export const collectionInput = z.looseObject({
  artifactSequenceID: z.string().nullish(),
  artifactPortfolioID: z.string().nullish(),
  name: artifactName.nullish(),
  description: longText.nullish(),
  destinationArtifactTypeName: artifactName.nullish(),
})

export const collectionTagsInput = z.looseObject({ ...names, artifactCollectionName: z.string(), tags })

/** A manifest file: platform-wandb 9.2. */
export const artifactManifest = z.looseObject({
  version: z.literal(1),
  storagePolicyConfig: z.looseObject({ storageLayout: z.string().nullish() }).nullish(),
  contents: z.record(
    entryPath,
    z.looseObject({
      digest: text.min(1).max(4096),
      size: z.int().min(0).nullish(),
      ref: text.max(65_536).nullish(),
      birthArtifactID: z.string().nullish(),
      extra: z.record(z.string(), z.unknown()).nullish(),
    }),
  ),
})
