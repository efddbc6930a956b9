/** Log-probabilities of a prompt's tokens, as vLLM answers them: inference-api 3. */
import { z } from "zod"

/** By token id: the prompt's own token first, then the likeliest. null: the first token, which nothing predicts. */
export const promptLogprobs = z.array(
  z
    .record(z.string(), z.object({ logprob: z.number(), rank: z.int().nullable(), decoded_token: z.string() }))
    .nullable(),
)
