/** Uploaded files, in the shape of OpenAI's files API, so that its clients upload with `client.files`. */
import { z } from "zod"

export const file = z.object({
  id: z.string(),
  object: z.literal("file"),
  bytes: z.int(),
  /** Unix seconds. */
  created_at: z.int(),
  filename: z.string(),
  purpose: z.string(),
  status: z.literal("processed"),
})

export const createFileBody = z.object({
  file: z.string().meta({ format: "binary" }),
  purpose: z.string().default("fine-tune"),
})

export const fileParams = z.object({ file_id: z.string() })

export const fileQuery = z.object({
  purpose: z.string().optional(),
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000),
  order: z.enum(["asc", "desc"]).default("desc"),
})

export const filePage = z.object({
  object: z.literal("list"),
  data: z.array(file),
  first_id: z.string(),
  last_id: z.string(),
  has_more: z.boolean(),
})

export const deletedFile = z.object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) })

export type File = z.infer<typeof file>
