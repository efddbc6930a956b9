/** `POST /tokenize` and `/detokenize` with vLLM's field names: inference-api 9. */
import { z } from "zod"
import { requestMessage, requestTool } from "./chat.ts"

export const tokenizeRequest = z.looseObject({
  model: z.string().min(1),
  prompt: z.string().nullish(),
  messages: z.array(requestMessage).nullish(),
  tools: z.array(requestTool).nullish(),
  add_generation_prompt: z.boolean().nullish(),
  continue_final_message: z.boolean().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
})
export const tokenizeAnswer = z.object({
  tokens: z.array(z.int()),
  count: z.int(),
  max_model_len: z.int(),
})

export const detokenizeRequest = z.looseObject({
  model: z.string().min(1),
  tokens: z.array(z.int().min(0)),
})
export const detokenizeAnswer = z.object({ prompt: z.string() })

export type TokenizeRequest = z.infer<typeof tokenizeRequest>
