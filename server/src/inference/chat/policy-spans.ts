/**
 * Which step read the prompt and sampled a choice, in the form that openpipe-art's PipelineTrainer takes evaluations by
 * (art-0.5.23 8). Written as JSON text by hand, as the token lists beside it are.
 */
import type { ServedModel } from "../../gateway/model-directory.ts"

/** The fields of a span that say which weights; null: a base model, which has no steps. */
export function policyFields({ trained }: ServedModel): string | null {
  if (trained === null) return null
  const { modelId, step } = trained
  const slot = JSON.stringify(`${modelId}:step${step}`)
  return `"generation_id":${slot},"policy_version":${step},"lora_slot":${slot},"update_seq":${step}`
}

/** The member of a choice with the comma ahead of it. It begins at token 1: nothing comes before the first one to read it after. */
export function promptSpansMember(fields: string | null, promptTokens: number): string {
  return spansMember("prompt_policy_token_spans", fields, 1, promptTokens)
}

/** One span: an answer is sampled by the weights that it was admitted with. */
export function choiceSpansMember(fields: string | null, tokens: number): string {
  return spansMember("policy_token_spans", fields, 0, tokens)
}

function spansMember(name: string, fields: string | null, start: number, end: number): string {
  if (fields === null) return ""
  return `,"${name}":[${end > start ? `{"start_token":${start},"end_token":${end},${fields}}` : ""}]`
}
