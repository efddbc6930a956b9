/** Texts that the wandb client sends. */
import { z } from "zod"

/** PostgreSQL's text has no U+0000. */
export const text = z
  .string()
  .refine((value) => !value.includes("\0") && value.isWellFormed(), "is not well-formed Unicode")

/**
 * Whether the path of a file leads out of no folder that it is taken in. On Windows neither, where backslashes divide paths
 * too and `C:x` is in the current folder of another drive.
 */
export function leadsInside(path: string): boolean {
  return !/^(?:[A-Za-z]:|[\\/])/.test(path) && !path.split(/[\\/]/).includes("..")
}
