/** Types under which a page is answered what a user stored: what browsers show. None runs in a page: SVG is a picture only. */
import { z } from "zod"

export const shownType = z.enum([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
  "image/svg+xml",
  "audio/wav",
  "audio/mpeg",
  "audio/ogg",
  "audio/flac",
  "audio/mp4",
  "audio/aac",
  "audio/webm",
  "video/mp4",
  "video/webm",
  "video/ogg",
  "video/quicktime",
])

export type ShownType = z.infer<typeof shownType>
