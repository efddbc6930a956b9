/** Texts that are keys: PostgreSQL and ClickHouse have no half of a surrogate pair, and would take it for another text. */
import { z } from "zod"

/** A text that the catalog can hold. */
export const storable = z
  .string()
  .refine((text) => text.isWellFormed() && !text.includes("\0"), "not well-formed Unicode, or with U+0000")

export const wellFormed = z.string().refine((text) => text.isWellFormed(), "not well-formed Unicode")
