/** `checkpoint.export`: write a checkpoint as programs that know no adapters read it, in a process of low priority. */
import { z } from "zod"
import { baseRef } from "./base.ts"
import { adapterRef } from "./chat.ts"

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

/** Event `planned`: about how many bytes the export will take; nothing is written yet. */
export const exportPlanned = z.object({ size_bytes: z.int() })

export const exportResult = z.object({ size_bytes: z.int() })

export type ExportFormat = z.infer<typeof exportFormat>
export type ExportDtype = z.infer<typeof exportDtype>
