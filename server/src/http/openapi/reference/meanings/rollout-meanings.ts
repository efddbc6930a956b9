/** Rollouts that the server gathers from calls. */
import type { Meanings } from "./meanings.ts"

const inWhichProject = "Team and project of the rollout; needed only where several of yours have a rollout of this id."
const group = "The question that the rollout answers, as the first turn that says so names it."

export const rolloutMeanings: Meanings = {
  requests: {
    rollout_id: "Id of a rollout, as its calls name it.",
  },
  schemas: {
    RolloutQuery: { project_id: inWhichProject },
    TurnsQuery: { project_id: inWhichProject, tokens: "With ids and raw log-probabilities; absent: no." },
    RolloutsQuery: {
      project_id: "The project, as `<team>/<project>`.",
      group: "Only rollouts of this group.",
      model_id: "Only rollouts with a turn of this model.",
      step: "Only rollouts with a turn of this checkpoint.",
      rewarded: "Only those that have a reward, or only those that have none.",
      since: "Only those whose first turn began then or later.",
      until: "Only those whose first turn began earlier.",
      order: "By the first turn: `desc`, the newest first, when absent.",
    },
    "Rollout, ReadRollout": {
      project_id: "The project, as `<team>/<project>`.",
      group,
      last_turn_at: "When its newest turn ended.",
      expires_at: "From then on its messages and tokens are gone, unless another turn comes.",
      reward: "The newest that was given; null: nobody has said.",
      rewarded_at: "When that was.",
      turns: "How many turns it has.",
      prompt_tokens: "Tokens of the prompts of all turns.",
      completion_tokens: "Tokens that were sampled in all turns.",
      models: "What answered its turns.",
      issues: "What keeps it, or a part of it, from being trained.",
    },
    ReadRollout: { rewards: "All that were given, the newest last." },
    "Rollout.models, ReadRollout.models": {
      model: "The checkpoint's `wandb-artifact:///…` name, or that of a base model.",
      model_id: "Id of the trained model; null: a base model.",
      step: "The checkpoint that answered; null: a base model.",
      turns: "How many turns it answered.",
    },
    RolloutIssue: {
      code: "Which kind it is.",
      message: "What it means here.",
    },
    "RewardBody, Reward": {
      key: "Name of the reward, with which a client may send it again.",
      reward: "How good the rollout was; higher is better.",
      metrics: "Parts of the reward, and whatever else was measured.",
      reason: "Why, in words.",
    },
    Reward: { user_id: "Id of the user who gave it." },
    DeletedRollout: {
      deleted: "Always true.",
      turns: "How many turns it had.",
    },
    RolloutTurn: {
      protocol: "The route that was asked.",
      model: "The model as the call named it.",
      model_id: "Id of the trained model; null: a base model.",
      step: "The checkpoint that answered; null: a base model.",
      base_model: "The base model that answered, or whose adapter did.",
      group: "The group that the call named; null: none.",
      trace_id: "W3C trace that enclosed the call.",
      span_id: "Span of that trace that the call was made in.",
      call_id: "Weave call that the header `x-heddle-call-id` named.",
      started_at: "When it was asked.",
      ended_at: "When it was answered.",
      is_finished: "False: its stream broke off; it is shown and not trained.",
      extends: "The turn whose prompt and answer this prompt begins with; null: it begins a branch.",
      prompt_tokens: "Tokens of its prompts.",
      completion_tokens: "Tokens that were sampled.",
      is_expired: "Whether messages and tokens are gone.",
      messages: "What was asked, in the form of a chat; null: a completion, or gone.",
      tools: "The tools of the call, in the form of a chat.",
      prompt: "Of a completion: what was asked.",
      choices: "What was answered.",
      prompt_token_ids: "Ids of the prompt.",
    },
    "RolloutTurn.choices": {
      index: "Which answer, from 0.",
      finish_reason: "Why it ended; null: it broke off.",
      message: "The answer, in the form of a chat.",
      text: "Of a completion: the answer.",
      prompt_token_ids: "Ids of its prompt, where it is not the turn's.",
      token_ids: "Every sampled token.",
      logprobs: "Raw log-probability of each.",
    },
    RolloutTrajectory: {
      exchanges: "The turns, as a client would have captured them.",
      reward: "The newest that was given.",
      metrics: "What came with the reward.",
      metadata: "Id and group of the rollout, and what is not trained of it.",
    },
  },
}
