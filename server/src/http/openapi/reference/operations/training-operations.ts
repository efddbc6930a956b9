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
      "Lists what ships with the server. Other bases are model-hub paths and local folders, given when a model is made.",
  },
  "GET /v1/preview/models": {
    description:
      "Lists the models of all your projects, or of one. Each comes with its newest checkpoint and how many jobs are open.",
    example: ({ entity, project }) => ({ query: { entity, project } }),
  },
  "POST /v1/preview/models": {
    description: "The model can be asked at once: its checkpoint 0 answers as the base model does.",
    example: ({ entity, project, modelName: name }) => ({
      body: { entity, project, name, base_model: "heddle/tiny", return_existing: true },
    }),
  },
  "DELETE /v1/preview/models/:model_id": {
    description: "Nothing of it can be brought back: checkpoints and logged trajectories go with it.",
    example: ({ modelId: model_id }) => ({ params: { model_id } }),
  },
  "GET /v1/preview/models/:model_id/checkpoints": {
    description:
      "Each checkpoint comes with its metrics, such as `train/reward`: together they are the curve of the training.",
    example: ({ modelId: model_id }) => ({ params: { model_id }, query: { order: "desc" } }),
  },
  "GET /v1/preview/models/:model_id/checkpoints/:step": {
    description:
      "Returns the checkpoint with its metrics and the job that made it. `latest` is the newest step that is left.",
    example: ({ modelId: model_id }) => ({ params: { model_id, step: "1" } }),
  },
  "GET /v1/preview/models/:model_id/checkpoints/:step/files": {
    description: "Returns the files' sizes and SHA-256. Step 0 has no files: it answers as the base model does.",
    example: ({ modelId: model_id }) => ({ params: { model_id, step: "1" } }),
  },
  "GET /v1/preview/models/:model_id/checkpoints/:step/files/:filename": {
    description: "`adapter_config.json` or `adapter_model.safetensors`, whole or a range of bytes.",
    example: ({ modelId: model_id }) => ({ params: { model_id, step: "1", filename: "adapter_config.json" } }),
  },
  "GET /v1/preview/models/:model_id/checkpoints/:step/download": {
    description:
      "Returns a folder that peft, transformers and vLLM load, or one file for llama.cpp. `latest` is the newest step that is left.",
    example: ({ modelId: model_id }) => ({ params: { model_id, step: "latest" } }),
  },
  "GET /v1/preview/model-metrics": {
    description:
      "Curves of one model or of several, gradient steps included. With more steps than `points`, a point stands for several and keeps their lowest and highest value.",
    example: ({ modelId: model_id }) => ({ query: { model_id, points: "200" } }),
  },
  "POST /v1/preview/models/:model_id/checkpoints": {
    description:
      "The body is a tar file of the folder that peft's `save_pretrained` writes: `adapter_config.json` and `adapter_model.safetensors`. It is checked against the base model in full, then listed and served at once; the model's next job starts from it.",
    example: ({ modelId: model_id }) => ({ params: { model_id }, text: "adapter/adapter_config.json" }),
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
  "POST /v1/preview/training-jobs/from-source/dry-run": {
    description:
      "Reads all that the source names, as the job would: how many rows and groups there would be, how many tokens, what is left out and why, with examples, and how long it may take. The guide on training from labels says what the fields mean.",
    example: ({ modelId: model_id, projectId: project_id }) => ({
      body: {
        model_id,
        source: { kind: "calls", project_id },
        target: {
          kind: "sft",
          score: [{ field: "feedback.[wandb.reaction.1].payload.emoji", values: { "👍": 1, "👎": 0 }, missing: 0 }],
          corrections: ["feedback.[wandb.note.1].payload.note"],
        },
      },
    }),
  },
  "POST /v1/preview/training-jobs/from-source": {
    description:
      "The rows are read once and stored with the job: labels that change later do not change it. What the dry run leaves out is left out here too; 422 where nothing is left, or where no group has two different rewards.",
    example: ({ modelId: model_id, projectId: project_id, callId }) => ({
      body: {
        model_id,
        source: { kind: "calls", project_id, filter: { call_ids: [callId] } },
        target: { kind: "sft" },
        config: { learning_rate: 0.0001 },
      },
    }),
  },
  "GET /v1/preview/training-jobs/:training_job_id/rows": {
    description:
      "Returns, for each line of the job's data in order, the call, the feedback and the dataset's row that it was made of. A job whose client sent the data has no rows here, and `source` is null.",
    example: ({ sourceJobId: training_job_id }) => ({ params: { training_job_id }, query: { limit: "50" } }),
  },
  "GET /v1/preview/models/:model_id/checkpoints/:step/rows": {
    description: "The rows of the job that made the step; steps before it were made by others.",
    example: ({ modelId: model_id }) => ({ params: { model_id, step: "2" } }),
  },
  "POST /v1/preview/training-rows/query": {
    description:
      "Names calls, feedback, rows of datasets or rollouts of a project; the answer is each line of each job that one of them went into, with the step that the job made. Jobs of models that you may not see are left out.",
    example: ({ projectId: project_id, callId }) => ({ body: { project_id, call_ids: [callId] } }),
  },
  "GET /v1/preview/training-jobs": {
    description: "Lists the jobs of all your projects, or those of a project, a model or a status.",
    example: ({ entity, project, modelId: model_id }) => ({ query: { entity, project, model_id, status: "queued" } }),
  },
  "GET /v1/preview/training-jobs/:training_job_id": {
    description: "Returns the job's status, and why it failed.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id } }),
  },
  "POST /v1/preview/training-jobs/:training_job_id/cancel": {
    description:
      "Ends it within a gradient step. The model keeps its newest checkpoint; a job that has ended stays as it is.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id } }),
  },
  "POST /v1/preview/training-jobs/:training_job_id/pause": {
    description:
      "Stops it within a gradient step. It keeps what it has learnt, its place in the data and the state of its optimizer, over restarts too, and later ends with the same result. Jobs of other models run meanwhile; those of the same model wait for it. 409 for a job that has ended.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id } }),
  },
  "POST /v1/preview/training-jobs/:training_job_id/resume": {
    description:
      "Puts it back to its place in the queue. A job that is not paused stays as it is; 409 when it has ended.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id } }),
  },
  "GET /v1/preview/training-jobs/:training_job_id/events": {
    description:
      "Follow a job: ask again with `after` until an event `training_ended` or `training_failed` comes. Or ask with `Accept: text/event-stream`, as a browser's `EventSource` does: each event is sent when it is stored, with its id and under the name of its type; the stream ends with the job, or after a quarter of an hour. `Last-Event-ID` goes on behind that event.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id } }),
  },
  "GET /v1/preview/training-jobs/:training_job_id/trajectory-groups": {
    description:
      "Groups come in the order of the request, as soon as the job has read its data. A trajectory that was not trained says why. The record is kept for the days of the limit `training_record_days` after the job has ended; after that, and for jobs that read none, `state` is `none`.",
    example: ({ jobId: training_job_id }) => ({ params: { training_job_id }, query: { limit: "50" } }),
  },
  "GET /v1/preview/training-jobs/:training_job_id/trajectory-groups/:group/trajectories/:index": {
    description:
      "Returns messages and completions in their order, and for each token of a completion its log-probability when it was sampled and when the gradient step that trained it began. Calls that a client captured come as the text that each prompt adds.",
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
    description:
      "Asks the engine and the stores themselves. For a person, or a monitor that may wait for seconds. A request with a key is told why a part fails.",
  },
}
