import type { Operations } from "../operation.ts"

const model = "heddle/tiny"
const messages = [{ role: "user", content: "4+5=" }]

export const inferenceOperations: Operations = {
  "POST /v1/chat/completions": {
    description:
      "Takes what OpenAI's clients and vLLM's take. A trained model is named `wandb-artifact:///entity/project/name`, with " +
      "`:step3` for one checkpoint. What it samples can be given back to a training job as it is. With the header " +
      "`x-heddle-rollout-id` the server keeps it as a turn of that rollout; the routes below do so too.",
    example: () => ({ body: { model, messages, max_completion_tokens: 8, temperature: 0 } }),
  },
  "POST /v1/completions": {
    description:
      "The text goes to the model as it is. `echo: true` returns it too, with `logprobs` also the log-probabilities of its " +
      "tokens; together with `max_tokens: 0` nothing is sampled.",
    example: () => ({ body: { model, prompt: "4+5=", max_tokens: 8 } }),
  },
  "POST /v1/embeddings": {
    description:
      "The vector of a text is the mean of the last hidden states of its tokens, of length 1: of the base model, or as a " +
      "checkpoint has changed it. No model here is trained for embeddings.",
    example: () => ({ body: { model, input: ["4+5=", "the rain"] } }),
  },
  "POST /v1/responses": {
    description:
      "Takes what OpenAI's clients send; models are named as in a chat, and the same dialogue gives the same prompt. " +
      "The ids and raw log-probabilities of what was sampled stand in `token_generations`. The answer is kept for " +
      "`previous_response_id` unless `store` is false, for 30 days unless the server's limits say otherwise.",
    example: () => ({ body: { model, input: "4+5=", max_output_tokens: 8, temperature: 0 } }),
  },
  "POST /v1/responses/input_tokens": {
    description:
      "Counts the whole prompt that `/v1/responses` would have: instructions, tools, input, what `previous_response_id` goes on " +
      "from, and what the chat template writes between them. Nothing is sampled or kept.",
    example: () => ({ body: { model, input: "4+5=", instructions: "Answer with the number." } }),
  },
  "POST /v1/responses/:response_id/cancel": {
    description:
      "The response's stream ends with `response.failed`, and nothing of it is kept. Refused when the response has ended.",
    example: ({ responseId }) => ({ params: { response_id: responseId } }),
  },
  "GET /v1/responses/:response_id": {
    description: "Returns the response as it was first answered.",
    example: ({ responseId }) => ({ params: { response_id: responseId } }),
  },
  "DELETE /v1/responses/:response_id": {
    description: "Responses that went on from it stay whole: each has a copy of all that came before it.",
    example: ({ responseId }) => ({ params: { response_id: responseId } }),
  },
  "GET /v1/responses/:response_id/input_items": {
    description: "Lists all that came before the answer, earlier answers of the dialogue too, but no instructions.",
    example: ({ responseId }) => ({ params: { response_id: responseId }, query: { order: "asc" } }),
  },
  "POST /v1/messages": {
    description:
      "Takes what Anthropic's clients send, whose base URL ends before `/v1`; the key may come as `x-api-key`. Models are " +
      "named as in a chat, and the same dialogue gives the same prompt. The ids and the raw log-probabilities of what was " +
      "sampled stand at the root of the answer, and in the `message_delta` of a stream. Errors have Anthropic's form.",
    example: () => ({ body: { model, messages, max_tokens: 8, system: "Answer with the number." } }),
  },
  "POST /v1/messages/count_tokens": {
    description: "Counts the whole prompt: system, tools, messages and what the chat template writes between them.",
    example: () => ({ body: { model, messages } }),
  },
  "GET /v1/models": { description: "Lists the models that the key may ask. Each id goes into `model` of a chat." },
  "GET /v1/models/*": {
    description: "The path ends with the model's id, slashes included, as `model` of a chat has it.",
    example: () => ({ params: { "*": model } }),
  },
  "POST /tokenize": {
    description: "Give `prompt`, or `messages`, which the chat template renders.",
    example: () => ({ body: { model, prompt: "4+5=" } }),
  },
  "POST /detokenize": {
    description: "Reverses `/tokenize`.",
    example: () => ({ body: { model, tokens: [1, 2, 3] } }),
  },
  "POST /v1/tokenize": {
    description: "Does the same as `/tokenize`, for clients whose base URL ends with `/v1`.",
    example: () => ({ body: { model, messages } }),
  },
  "POST /v1/detokenize": {
    description: "Does the same as `/detokenize`, for clients whose base URL ends with `/v1`.",
    example: () => ({ body: { model, tokens: [1, 2, 3] } }),
  },
  "GET /v1/organization/usage/completions": {
    description:
      "Answers in buckets of time, in the form of OpenAI's usage API. Requests that broke off count with the tokens that were sampled.",
    example: ({ projectId }) => ({
      query: { start_time: "1767225600", bucket_width: "1d", project_ids: projectId, group_by: "model" },
    }),
  },
  "GET /health": { description: "Does the same as `/v1/health`, at the path of vLLM and of OpenAI's gateways." },
}
