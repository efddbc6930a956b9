/** Texts that are keys: PostgreSQL and ClickHouse have no half of a surrogate pair, and would take it for another text. */
import { z } from "zod"

export const wellFormed = z.string().refine((text) => text.isWellFormed(), "not well-formed Unicode")
