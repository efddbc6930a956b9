/** What `/v1/completions` and `/v1/embeddings` read: texts or token ids (inference-api 9). */
import { z } from "zod"

type Check = (value: unknown) => boolean

const integer = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }

const isTokenId: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0

const isListOf =
  (isMember: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(isMember)

/**
 * A list that is not empty. `z.array` goes through all of a list and keeps a fault for each member of another kind, which
 * takes a third of a second for 290,000 token ids where texts are tried first. This one ends at the first.
 */
function listOf<T>(isMember: Check, items: Record<string, unknown>) {
  const schema = z.custom<T[]>(isListOf(isMember))
  schema._zod.toJSONSchema = () => ({ type: "array", items, minItems: 1 })
  return schema
}

export const promptTexts = z.union(
  [
    z.string(),
    listOf<string>((value) => typeof value === "string", { type: "string" }),
    listOf<number>(isTokenId, integer),
    listOf<number[]>(isListOf(isTokenId), { type: "array", items: integer, minItems: 1 }),
  ],
  "a text, a list of texts, a list of token ids or a list of such lists; no list may be empty",
)
