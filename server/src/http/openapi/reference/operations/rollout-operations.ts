import type { Operations } from "../operation.ts"

export const rolloutOperations: Operations = {
  "GET /v1/rollouts": {
    description:
      "A chat, completion, response or message with the header `x-heddle-rollout-id`, or with `rollout_id` in its " +
      "`metadata`, is a turn of that rollout; `x-heddle-rollout-group` (`rollout_group`) names the question it answers. " +
      "Without either, a trained model's call belongs to the trace of its `traceparent`. The rollout is kept in the " +
      "project that the call is counted for.",
    example: ({ projectId: project_id, rolloutGroup: group }) => ({ query: { project_id, group, rewarded: "true" } }),
  },
  "GET /v1/rollouts/:rollout_id": {
    description:
      "Returns what was asked under this id, of which models, what it earned and from whom. `issues` say what cannot be trained: " +
      "no reward, tokens that are gone, turns that broke off, several models or steps.",
    example: ({ rolloutId: rollout_id }) => ({ params: { rollout_id } }),
  },
  "GET /v1/rollouts/:rollout_id/turns": {
    description:
      "Whatever the protocol, messages, tools and answers have the form of a chat. A page ends early where turns are large.",
    example: ({ rolloutId: rollout_id }) => ({ params: { rollout_id }, query: { tokens: "true", limit: "10" } }),
  },
  "GET /v1/rollouts/:rollout_id/trajectory": {
    description:
      "The answer goes as it is into `trajectory_groups` of a training job. Turns that broke off are left out. A rollout without a " +
      "reward, or whose tokens are gone, is refused with 409.",
    example: ({ rolloutId: rollout_id }) => ({ params: { rollout_id } }),
  },
  "POST /v1/rollouts/:rollout_id/reward": {
    description:
      "It may come hours after the last turn. The same reward with the same `key` again changes nothing; another one with " +
      "that key is refused with 409.",
    example: ({ rolloutId: rollout_id }) => ({
      params: { rollout_id },
      body: { reward: 0.75, key: "grader-1", metrics: { exact: 1, length: 12 }, reason: "right, but wordy" },
    }),
  },
  "DELETE /v1/rollouts/:rollout_id": {
    description: "Jobs that trained it keep what they need. The id may be used again.",
    example: ({ rolloutId: rollout_id }) => ({ params: { rollout_id } }),
  },
}
