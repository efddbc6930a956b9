/** The fields of a request that say what its answer must be: inference-api 3. */
import { z } from "zod"

const text = z.string().min(1)
/** As an object or as JSON text. */
const schema = z.union([z.string(), z.record(z.string(), z.unknown())], "a JSON schema")
const choice = z.array(z.string()).min(1).max(10_000)

export const structuredFields = {
  response_format: z
    .looseObject({
      type: z.string(),
      json_schema: z.looseObject({ name: z.string().nullish(), schema: schema.nullish() }).nullish(),
    })
    .nullish(),
  /** vLLM's: one kind only. */
  structured_outputs: z
    .looseObject({
      json: schema.nullish(),
      json_object: z.boolean().nullish(),
      regex: text.nullish(),
      choice: choice.nullish(),
      grammar: text.nullish(),
      structural_tag: z.unknown().optional(),
    })
    .nullish(),
  /** Earlier names of vLLM. */
  guided_json: schema.nullish(),
  guided_regex: text.nullish(),
  guided_choice: choice.nullish(),
  guided_grammar: text.nullish(),
}

export const structuredRequest = z.looseObject(structuredFields)
export type StructuredRequest = z.infer<typeof structuredRequest>
