/**
 * What an engine on another machine is told besides: files by their content. Where a call of an engine beside the server
 * has a path, such an engine has the SHA-256 of the file, which the server has sent before; what the engine makes comes
 * back the same way.
 */
import { z } from "zod"

/** Most bytes of a file in one frame. */
export const FILE_CHUNK_BYTES = 1024 * 1024

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** A file of a folder that has no folders in it. */
export const contentFile = z.object({ name: z.string(), sha256, size: z.int() })

/** In the place of an adapter's path. */
export const carriedAdapter = z.object({ key: z.string(), files: z.array(contentFile) })

/** `files.lacking`: which of these files the engine has not, and how many bytes of each have come. */
export const filesLackingParams = z.object({ sha256: z.array(sha256) })
export const filesLackingResult = z.object({ lacking: z.array(z.object({ sha256, have: z.int() })) })

/** `file.put`: the next piece of a file, in base64. It counts only where `offset` is how many bytes have come. */
export const filePutParams = z.object({ sha256, size: z.int(), offset: z.int(), data: z.string() })
export const filePutResult = z.object({
  have: z.int(),
  /** The file is whole, and its content is what its name says. */
  stored: z.boolean(),
})

/** `file.get`: the piece of a file that begins at `offset`, in base64; empty behind its end. */
export const fileGetParams = z.object({ sha256, offset: z.int() })
export const fileGetResult = z.object({ data: z.string() })

/** `train.forget`: the server has what the job made; snapshots and the like may go. */
export const trainForgetParams = z.object({ job_id: z.string() })

export type ContentFile = z.infer<typeof contentFile>
export type CarriedAdapter = z.infer<typeof carriedAdapter>
