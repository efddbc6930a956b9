/** `checkpoint.export`: write a checkpoint as programs that know no adapters read it, in a process of low priority. */
import { z } from "zod"
import { baseRef } from "./base.ts"
import { adapterRef } from "./chat.ts"
import { carriedAdapter, contentFile } from "./files.ts"

/** `merged`: a transformers folder. `gguf`: one file. */
export const exportFormat = z.enum(["merged", "gguf"])
export const exportDtype = z.enum(["float32", "bfloat16", "float16"])

export const exportParams = z.object({
  base: baseRef,
  /** null: the base model alone. */
  adapter: adapterRef.nullable(),
  format: exportFormat,
  /** null: as the base model has it. */
  dtype: exportDtype.nullable(),
  /** What the export calls the model. */
  title: z.string(),
  /** Tenants take turns. */
  tenant: z.string(),
  /** Folder (`merged`) or file (`gguf`), which must not exist yet; it appears whole or not at all. */
  output: z.object({ path: z.string() }),
})

/** `checkpoint.export` of an engine on another machine, which writes into a folder of its own. */
export const remoteExportParams = exportParams.omit({ output: true }).extend({ adapter: carriedAdapter.nullable() })

/** Event `planned`: about how many bytes the export will take; nothing is written yet. */
export const exportPlanned = z.object({ size_bytes: z.int() })

export const exportResult = z.object({
  size_bytes: z.int(),
  /** Of an engine on another machine: the files of the folder, or the one file. */
  files: z.array(contentFile).optional(),
})

export type ExportFormat = z.infer<typeof exportFormat>
export type ExportDtype = z.infer<typeof exportDtype>
