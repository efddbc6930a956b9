/** Texts and token ids in every form that clients send: inference-api 1. */

export interface Prompt {
  prompt?: string
  prompt_token_ids?: number[]
}

/** One for each text, or list of token ids. */
export function toPrompts(given: string | string[] | number[] | number[][]): Prompt[] {
  if (typeof given === "string") return [{ prompt: given }]
  if (typeof given[0] === "number") return [{ prompt_token_ids: given as number[] }]
  return (given as (string | number[])[]).map((each) =>
    typeof each === "string" ? { prompt: each } : { prompt_token_ids: each },
  )
}
