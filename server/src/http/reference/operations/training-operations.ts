import type { Operations } from "../operation.ts"

const rollout = (answer: string, reward: number) => ({
  messages_and_choices: [
    { role: "user", content: "4+5=" },
    {
      finish_reason: "stop",
      index: 0,
      message: { role: "assistant", content: answer },
      logprobs: { content: [{ token: answer, logprob: -0.5, bytes: [57], top_logprobs: [] }] },
    },
  ],
  reward,
})
const trajectory_groups = [{ trajectories: [rollout("9", 1), rollout("8", 0)] }]

export const trainingOperations: Operations = {
  "GET /v1/preview/base-models": {
    description:
      "What ships with the server. Other bases are model-hub paths and local folders, given when a model is made.",
  },
  "GET /v1/preview/models": {
    description: "Of all your projects, or of one. Each with its newest checkpoint and how many jobs are open.",
    example: ({ entity, project }) => ({ query: { entity, project } }),
  },
  "POST /v1/preview/models": {
    description: "The model can be asked at once: its checkpoint 0 answers as the base model does.",
    example: ({ entity, project, modelName: name }) => ({
      body: { entity, project, name, base_model: "heddle/tiny", return_existing: true },
    }),
  },
  "DELETE /v1/preview/models/:model_id": {
    description: "Nothing of it comes back: checkpoints and logged trajectories go with it.",
    example: ({ modelId: model_id }) => ({ params: { model_id } }),
  },
  "GET /v1/preview/models/:model_id/checkpoints": {
    description: "Each with its metrics, such as `train/reward`: together they are the curve of the training.",
    example: ({ modelId: model_id }) => ({ params: { model_id }, query: { order: "desc" } }),
  },
  "GET /v1/preview/models/:model_id/checkpoints/:step": {
    description: "With its metrics and the job that made it. `latest` is the newest step that is left.",
    example: ({ modelId: model_id }) => ({ params: { model_id, step: "1" } }),
  },
  "GET /v1/preview/models/:model_id/checkpoints/:step/files": {
    description: "Their sizes and SHA-256. Step 0 has none: it answers as the base model does.",
    example: ({ modelId: model_id }) => ({ params: { model_id, step: "1" } }),
  },
  "GET /v1/preview/models/:model_id/checkpoints/:step/files/:filename": {
    description: "`adapter_config.json` or `adapter_model.safetensors`, whole or a range of bytes.",
    example: ({ modelId: model_id }) => ({ params: { model_id, step: "1", filename: "adapter_config.json" } }),
  },
  "GET /v1/preview/models/:model_id/checkpoints/:step/download": {
    description: "A folder that peft, transformers and vLLM load. `latest` is the newest step that is left.",
    example: ({ modelId: model_id }) => ({ params: { model_id, step: "latest" } }),
  },
  "GET /v1/preview/model-metrics": {
    description:
      "Curves of one model or of several, gradient steps included. With more steps than `points`, a point stands for several and keeps their lowest and highest value.",
    example: ({ modelId: model_id }) => ({ query: { model_id, points: "200" } }),
  },
  "DELETE /v1/preview/models/:model_id/checkpoints": {
    description:
      "Steps that are not there are named in the answer. Requests that run finish on the checkpoint they began with.",
    example: ({ modelId: model_id }) => ({ params: { model_id }, body: { steps: [0] } }),
  },
  "POST /v1/preview/models/:model_id/log": {
    description:
      "For rollouts that are not trained on, such as those of a validation set: their mean reward becomes a metric of the checkpoint.",
    example: ({ modelId: model_id }) => ({ params: { model_id }, body: { split: "val", trajectory_groups } }),
  },
  "POST /v1/preview/training-jobs": {
    description:
      "Answers when the job is stored; it runs in turn. Within each group, rollouts above the mean reward become likelier.",
    example: ({ modelId: model_id }) => ({
      body: { model_id, trajectory_groups, experimental_config: { learning_rate: 0.0001 } },
    }),
  },
  "POST /v1/preview/sft-training-jobs": {
    description:
      'Each line of the file is `{"messages": […]}`, the last one the assistant\'s. Upload it to `/v1/files` first.',
    example: ({ modelId: model_id, uploadId: training_data_url }) => ({
      body: { model_id, training_data_url, config: { learning_rate: 0.0001, batch_size: 2 } },
    }),
  },
  "GET /v1/preview/training-jobs": {
    description: "Of all your projects, or of a project, a model or a status.",
    example: ({ entity, project, modelId: model_id }) => ({ query: { entity, project, model_id, status: "queued" } }),
  },
  "GET /v1/preview/training-jobs/:training_job_id": {
    description: "Its status, and why it failed.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id } }),
  },
  "POST /v1/preview/training-jobs/:training_job_id/cancel": {
    description:
      "Ends it within a gradient step. The model keeps its newest checkpoint; a job that has ended stays as it is.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id } }),
  },
  "GET /v1/preview/training-jobs/:training_job_id/events": {
    description: "Follow a job: ask again with `after` until an event `training_ended` or `training_failed` comes.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id } }),
  },
  "GET /v1/preview/training-jobs/:training_job_id/trajectory-groups": {
    description:
      "In the order of the request, as soon as the job has read its data. What was not trained says why. Kept for the days of the limit `training_record_days` after the job has ended; then, and for jobs that read none, `state` is `none`.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id }, query: { limit: "50" } }),
  },
  "GET /v1/preview/training-jobs/:training_job_id/trajectory-groups/:group/trajectories/:index": {
    description:
      "Messages and completions in their order; of each token of a completion its log-probability when it was sampled, and when the gradient step that trained it began. Calls that a client captured come as the text that each prompt adds.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id, group: "0", index: "1" } }),
  },
  "GET /v1/preview/training-jobs/:training_job_id/trajectory-groups/:group/same-question": {
    description:
      "A question is all that came before the first completion, with the tools. The newest jobs come first, up to 200 of them; the job itself is in the list.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id, group: "0" } }),
  },
  "GET /v1/health": {
    description: "For load balancers. `degraded` names what is away; requests that need it are answered 503.",
  },
  "GET /v1/system-check": {
    description: "Asks the engine and the stores themselves. For a person, or a monitor that may wait for seconds.",
  },
}
