/** `adapter.import`: check a LoRA adapter that was trained elsewhere and write it as a checkpoint's folder. */
import { z } from "zod"
import { baseRef } from "./base.ts"
import { contentFile } from "./files.ts"

export const importParams = z.object({
  base: baseRef,
  /** A tar file of a PEFT folder. */
  archive: z.string(),
  /** It may name another base model than `base`. */
  any_base: z.boolean(),
  tenant: z.string(),
  /** The folder must not exist yet; it appears whole or not at all. */
  output: z.object({ path: z.string() }),
})

/** `adapter.import` of an engine on another machine, which writes into a folder of its own. */
export const remoteImportParams = importParams
  .omit({ output: true })
  .extend({ archive: z.object({ sha256: z.string() }) })

export const importResult = z.object({
  size_bytes: z.int(),
  /** SHA-256 of `manifest.json`, which lists every file with size and SHA-256. */
  manifest_sha256: z.string(),
  /** The largest of its modules. */
  rank: z.int(),
  /** Of an engine on another machine: the files of the folder. */
  files: z.array(contentFile).optional(),
})
