/** Models, checkpoints, jobs. */
import type { Meanings } from "./meanings.ts"

export const trainingMeanings: Meanings = {
  everywhere: {
    model_id: "Id of a trainable model.",
  },
  requests: {
    base_model: "`heddle/tiny`, a model-hub path, or the absolute path of a local folder in Hugging Face layout.",
    return_existing: "Answer the model of this name when there is one, instead of refusing.",
    training_job_id: "Id of a training job.",
    trajectory_groups: "Groups of rollouts: within a group, rewards are compared.",
    trajectories: "Rollouts of one task.",
    reward: "How good the rollout was; higher is better.",
    messages_and_choices: "Prompt messages, and choices as chat answered them. Only choices are trained.",
    experimental_config: "Settings of the training; what is absent has its default.",
    training_data_url:
      "Id or address of a file that was uploaded to `/v1/files`, or an https address: JSON Lines, a dialogue each.",
    config: "Settings of the training; what is absent has its default.",
    steps: "Numbers of checkpoints.",
    step: "Number of a checkpoint; where one is read, `latest` too.",
    filename: "`adapter_config.json` or `adapter_model.safetensors`.",
    group: "Which group of the request, from 0.",
    index: "Which trajectory of the group, from 0.",
    metric: "Names of metrics; may be given several times. Absent: all of them.",
    from_step: "The first step that is of interest.",
    to_step: "The last step that is of interest.",
    points: "The most points of a curve.",
    run: "Name of a run of the wandb client.",
    split: "Name of the set that the trajectories belong to, such as `val`.",
    kl_penalty_coef: "Weight of the penalty for leaving the reference model; 0 is none.",
    loss_type:
      "What the loss of a gradient step is divided by. `bnpo`: its trained tokens. `grpo`: each completion by its own tokens, then by the completions. `dr_grpo`: completions times `max_completion_length`.",
    max_completion_length: "The length that `dr_grpo` takes for every completion; nothing is cut off by it.",
    normalize_by_length: "Whether a trajectory weighs the same however many tokens it has; absent: true.",
    grad_accumulation_sequences: "Packed rows of one optimizer step; absent: 1.",
    kl_ref_adapter_path: "The reference of the penalty: a checkpoint's `wandb-artifact:///…` name.",
  },
  answers: {
    base_model: "Name of the base model that the adapters are trained on.",
    artifact: "Name under which chat serves exactly this checkpoint.",
    step: "Number of the checkpoint; a model begins with step 0.",
    run_id: "Id of the model's run of the wandb client; it is the model's name.",
    error_message: "Why the job failed, or who cancelled it; null otherwise.",
  },
  schemas: {
    "Checkpoint, ReadCheckpoint": {
      metrics: "Values by name, such as `train/reward` or a logged `val/reward`.",
      size_bytes: "Bytes on the disk: the adapter, and the optimizer's state as long as it is kept.",
    },
    CheckpointFiles: { step: "The checkpoint of these files: what `latest` meant when they were listed." },
    "CheckpointFiles.data": {
      filename: "`adapter_config.json` or `adapter_model.safetensors`.",
      size_bytes: "Bytes of the file.",
      sha256: "SHA-256 of the file, in hexadecimal.",
    },
    CreateModelBody: {
      name: "Name of the model, one in its project; chat knows it as `wandb-artifact:///entity/project/name`.",
      entity: "Team or user that owns the project; absent: the default entity of the key's user.",
    },
    CreateSftJobBody: { experimental_config: "Taken, and without effect: settings of these jobs stand in `config`." },
    TrainFromBody: {
      source: "Where the rows come from: calls, a queue, evaluations, a dataset or rollouts.",
      target:
        "What is made of them: rows of fine-tuning, groups to compare by reward, or pairs of a better and a worse answer.",
      config: "Settings of fine-tuning and of training on pairs; what is absent has its default.",
      experimental_config: "Settings of training by reward; what is absent has its default.",
    },
    "TrainingCalls, TrainingQueue, TrainingEvaluation, TrainingDataset, TrainingRollouts": {
      kind: "What the rows come from.",
      project_id: "Where the source is, `entity/project`: of the model's team, though it may be another project.",
    },
    TrainingCalls: {
      filter: "Which calls, as in `/calls/stream_query`.",
      query: "What must be true of them besides, as there.",
      feedback_type: "Only calls that have feedback of this type.",
      limit: "So many at most, the oldest first.",
    },
    TrainingQueue: { queue_id: "Id of the queue, all of whose items are read." },
    TrainingEvaluation: { evaluation_call_ids: "Ids of the root calls of the evaluations." },
    TrainingRollouts: {
      rollout_ids: "Ids of the rollouts; absent: all that the rest matches.",
      group: "Only rollouts of this group; absent: any.",
      step: "Only rollouts with a turn of this checkpoint; absent: any.",
      since: "Only those whose first turn began then or later; absent: from the first on.",
      until: "Only those whose first turn began earlier; absent: to the newest.",
      queue_id: "The queue whose labels `label.<field>` means; absent: no such field may be named.",
    },
    TrainingDataset: {
      object_id: "Name of the dataset.",
      digest: "Its version: a digest, `v0`, an alias; absent: the latest.",
    },
    RowMapping: {
      messages: "Path of what was asked, such as `inputs.chat`; absent: where such calls usually have it.",
      answer:
        "Path of what was answered, such as `output.choices.0.message`; absent: where such calls usually have it.",
      tools: "Path of the tools, such as `inputs.tools`; absent: where such calls usually have them.",
    },
    ScorePart: {
      field:
        "A field as queries of calls name it, such as `feedback.[<type>].payload.<path>`; of a queue also `label.<field>`, of evaluations `scores.<scorer>`, of a dataset `row.<path>`, of a rollout `rollout.reward` and `rollout.metrics.<name>`, and feedback, scores and labels of the calls it was made in.",
      weight: "What the field's number is multiplied by; absent: 1.",
      values: 'Numbers of texts: `{"yes": 1, "no": 0}`. Numbers, true and false need none.',
      missing: "The number where the field has no value; absent: such a row is left out.",
    },
    "SftTarget, RlTarget, DpoTarget": {
      kind: "`sft`: imitate the answers. `rl`: make those likelier that have a better reward than others of their group. `dpo`: make the better answer of each pair likelier than the other.",
      mapping: "Where messages and answers are, should they not be found.",
    },
    SftTarget: {
      corrections: "Fields that hold a better answer: the first that has a text takes the place of the output.",
      score: "What the score of a row is the sum of.",
      min_score: "Rows with a lower score are left out, unless they are corrected.",
      best_of:
        "Of rows with the same value of it only the one with the best score stays: `question`, `input` or a field.",
    },
    RlTarget: {
      reward: "What the reward of a row is the sum of.",
      group_by: "Rows with the same value of it are compared: `question` (the default), `input` or a field.",
    },
    DpoTarget: {
      pairs: "Where pairs come from: scores, votes or two fields.",
      beta: "How much a reward counts against how far the model goes from the reference; absent: 0.1.",
      reference: "`start`, the default: the step that the job starts from. `base`: the base model.",
    },
    "ScoredPairs, VotedPairs, LabelledPairs": {
      from: "`score`: the best answer to each question against the worst. `vote`: answers against those that they were preferred to. `fields`: two answers that stand in fields.",
    },
    ScoredPairs: { score: "What the score of an answer is the sum of." },
    VotedPairs: { field: "Where votes are, with `value` and `over`; absent: `feedback.[playground.vote].payload`." },
    LabelledPairs: {
      chosen: "Field with the better answer; absent: the row's own answer is the better one.",
      rejected: "Field with the worse answer; absent: the row's own answer is the worse one.",
    },
    DroppedRow: { id: "Of the call, or the digest of the dataset's row.", detail: "What is the matter with it." },
    RowDrop: {
      cause: "Why rows are left out, as a word.",
      reason: "Why rows are left out, as a sentence.",
      count: "How many are.",
      examples: "The first of them, up to three.",
    },
    PreviewRow: {
      id: "Of the call, or the digest of the dataset's row.",
      question: "The beginning of what the user said last.",
      answer: "The beginning of the answer that is learnt.",
      rejected: "The beginning of the answer that it is preferred to; null: it is no pair.",
      is_corrected: "Whether a correction took the place of the output.",
      score: "Its score or reward; null: it needs none.",
    },
    TrainingTime: {
      seconds: "How long the job may run; null: not known.",
      tokens_per_second: "How fast jobs of its kind and base model were; null: not known.",
      reason: "Where the figure comes from, or why there is none.",
    },
    "TrainingSummary, TrainingDryRun": {
      kind: "Kind of the job.",
      read: "Calls or rows that the source has.",
      rows: "Rows that are left to train on; of pairs two for each.",
      pairs: "Pairs that are left; null: the job has none.",
      groups: "Groups that are left, or questions whose answers are compared; null: there are none.",
      groups_without_contrast:
        "Groups whose rewards or scores are all equal, so that nothing is learnt from them; null: as above.",
      groups_of_one: "Groups with a single answer, which is compared with nothing; null: as above.",
      tokens: "Tokens of the rows.",
      trained_tokens: "Tokens that a gradient comes from.",
      tokens_are_estimated: "Whether tokens are guessed from the length of texts and from what clients were told.",
      corrected: "Rows whose output a correction took the place of.",
      drops: "What is left out, the most frequent cause first.",
    },
    TrainingDryRun: {
      time: "How long the job may run, once it is its turn.",
      preview: "The first rows.",
      warnings: "What may not be as it was meant.",
    },
    TrainedFromJob: { summary: "What its rows are, and what was left out." },
    "TrainingRow, TrainingUse": {
      id: "Number of the row, as a text.",
      row: "Line of the job's data, from 0.",
      group: "Group of the row, as in the job's trajectories; null: fine-tuning.",
      index: "Place of the row in its group; null: fine-tuning.",
      call_id: "The call it was made of; null: none.",
      row_digest: "The dataset's row it was made of or is about; null: none.",
      rollout_id: "The rollout it was made of; null: none.",
      feedback_ids: "Feedback and labels that its score or correction came from.",
      score: "Its score or reward when it was read; null: it needed none.",
      is_corrected: "Whether a correction took the place of the output.",
    },
    TrainingRowsAnswer: {
      project_id: "Where the source was.",
      source: "What the job was asked to be made from.",
      target: "What was to be made of it.",
      summary: "What came of it.",
    },
    "TrainingRowsAnswer.source": { kind: "What the rows came from.", project_id: "Where that was, `entity/project`." },
    "TrainingRowsAnswer.target": { kind: "What was made of them: `sft` or `rl`." },
    TrainingUsesBody: {
      project_id: "Where the source was, `entity/project`.",
      call_ids: "Ids of calls.",
      feedback_ids: "Ids of feedback, labels among them.",
      row_digests: "Digests of rows of datasets.",
      rollout_ids: "Ids of rollouts.",
    },
    TrainingUses: {
      uses: "Lines of jobs, those of the newest job first.",
      is_complete: "false: there are more than the answer has.",
    },
    TrainingUse: {
      training_job_id: "The job that learnt from it.",
      status: "Status of the job.",
      model_id: "The model that was trained.",
      model: "Name of the model.",
      output_step: "The step that the job made; null: none, or none yet.",
    },
    DeleteCheckpointsAnswer: {
      deleted_count: "How many checkpoints were deleted.",
      not_found_steps: "Steps of the request that the model does not have.",
    },
    DeleteModelAnswer: {
      deleted_checkpoints: "How many checkpoints went with the model.",
      deleted_run: "Always true, as clients expect it.",
    },
    Event: {
      type: "`training_started` comes first, `gradient_step` once for each step of the optimizer, one of the others last.",
      data: "Of `training_started` `num_sequences`, the gradient steps to expect; of `gradient_step` its metrics; of `training_failed` the `error_message`.",
    },
    ExperimentalConfig: {
      learning_rate: "Step size of the optimizer; 5e-6 when absent.",
      ppo: "Older form of `loss_fn`: true means `ppo`, false `cispo`; the two may not contradict each other.",
      loss_fn:
        "`cispo` (when absent): a clipped weight on the log-probability; `ppo`: the clipped surrogate objective.",
      epsilon: "The ratio of probabilities is clipped below 1 minus this; absent: 1 with `cispo`, 0.2 with `ppo`.",
      epsilon_high:
        "The ratio of probabilities is clipped above 1 plus this; absent: 4 with `cispo`, `epsilon` with `ppo`.",
      importance_sampling_level:
        "Whether the ratio of probabilities is of the `token` (when absent), the mean over the `sequence`, or the `average` or `geometric_average` of both.",
      advantage_balance:
        "Above 0 negative advantages are scaled by 1 minus this, below 0 positive ones by 1 plus this; 0 when absent.",
      scale_rewards: "Divide advantages by the standard deviation of their group; absent: yes.",
      normalize_advantages: "Other name of `scale_rewards`: false in either turns the division off.",
      max_negative_advantage_importance_sampling_weight:
        "Cap of the ratio of probabilities, on every token whatever its name says; absent: none.",
      mask_prob_ratio: "Set the ratio of probabilities to 0 where it is outside the clip range; absent: no.",
      kimi_k2_tau: "Lowers each advantage by this times the token's log-ratio; absent: off.",
      precalculate_logprobs:
        "Work out the old log-probabilities afresh with the weights that the job starts from, instead of taking the sampled ones; absent: no.",
      truncated_importance_sampling: "Weigh each token's loss by its ratio to the sampler, at most this; absent: off.",
      kl_penalty_source:
        "Compare the reference with log-probabilities of the weights in training (`current_learner`, when absent) or with the sampled ones (`sample`).",
      kl_penalty_reference_step:
        "The model's checkpoint that the penalty compares with; absent, as both others: the base model.",
      kl_penalty_step_lag: "Compare with the checkpoint so many steps before the current one.",
      allow_training_without_logprobs:
        "Train choices that came without log-probabilities too; absent: they are left out.",
      logprob_calculation_chunk_size: "Tokens whose log-probabilities are worked out at once; 1024 when absent.",
      packed_sequence_length:
        "Most tokens of a row into which sequences are packed, a multiple of `logprob_calculation_chunk_size`; absent: as the longest sequence needs.",
      num_trajectories_learning_rate_multiplier_power:
        "The learning rate of a row is multiplied by its number of trajectories to this power; 0 when absent.",
      scale_learning_rate_by_reward_std_dev:
        "Scale the learning rate with the trend that the spread of rewards within groups has over the steps of the model; absent: no.",
      plot_tensors: "Taken, and without effect.",
    },
    Exchange: {
      request: "The JSON body as it was sent.",
      response:
        "The whole answer, put together where it came as a stream; token ids and log-probabilities are read from it.",
      start_time: "When the call was made; turns are in the order of their calls.",
      end_time: "When the answer had come.",
      model: "Name of the model that was asked; calls of other models than the one in training are ignored.",
    },
    Exchanges: {
      chat_completions: "Calls of `/v1/chat/completions`.",
      completions: "Calls of `/v1/completions`.",
      responses: "Calls of `/v1/responses`.",
      messages: "Calls of `/v1/messages`.",
    },
    Health: {
      status: "`degraded`: requests are served, but writes may be refused.",
      reason: "Why the status is `degraded`, and what to do.",
    },
    "ListedTrajectory, TrainedTrajectory": {
      index: "Which trajectory of the group, from 0.",
      reward: "What the rollout was worth.",
      advantage: "How far the reward is above the mean of its group, as the job scales it.",
      drops: "What of it was not trained, and why.",
    },
    ListedTrajectory: {
      completions: "How often a model was asked in it.",
      sampled_tokens: "Tokens of its completions, as far as they are known.",
      trained_tokens: "How many of them were trained.",
      gradient_steps: "The steps that trained them.",
    },
    TrainedTrajectory: {
      training_job_id: "The job that it was sent to.",
      group: "Which group of the request, from 0.",
      question: "What it was asked last before the first completion, shortened.",
      question_digest: "SHA-256 of all that came before the first completion; null: it is not known.",
      sequences:
        "Stretches of tokens that were trained each as one; a prompt that rewrites what came before begins another.",
      tools: "Tools that the first history was given; null: none.",
      turns: "Messages, captured context and completions, in their order.",
    },
    TrainedSequence: {
      gradient_step: "The step that trains it; null: it is longer than a row.",
      tokens: "All of its tokens, prompts too.",
      trained_tokens: "Tokens that are trained.",
      advantage: "Of each of them, after the advantages of the job were brought to one scale.",
      weight: "Of each of them, so that every trajectory counts the same.",
    },
    TrainedTokens: {
      token_ids: "Their ids.",
      texts: "Their texts; a character that is spread over several tokens stands with the last.",
      sampled_logprobs: "Natural-log probability when it was sampled; null: unknown.",
      trained: "Whether the token is trained.",
      logprobs:
        "The same when the gradient step that trained it began; null: it is not trained, or the step is not done.",
      ratios: "Probability then to the one it is compared with; null as above.",
      clipped: "Whether the ratio was outside the clip range.",
    },
    TrainedTurn: {
      history: "0: the main one; the others are additional histories.",
      message: "As the client sent it; null: it was captured, and only its tokens are known.",
      text: "What the prompt adds to the call before it.",
      place: "Which completion, as messages name it.",
      sequence: "Which of the sequences its tokens are trained in; null: in none.",
      drop: "Why it is not trained; null: it is, or its whole trajectory is not.",
      tokens: "Of a context their number; of a completion its tokens, null: they are not known.",
    },
    TrajectoryDrop: {
      cause: "A word for the reason.",
      place: "Which completion; null: all of the trajectory.",
      reason: "In a sentence.",
    },
    TrainedGroup: {
      group: "Which group of the request, from 0.",
      question: "What its first trajectory was asked last before its first completion, shortened.",
      question_digest: "SHA-256 of all that came before the first completion; null: it is not known.",
      mean_reward: "Mean of the rewards.",
      reward_std_dev: "Their standard deviation, as of a whole population.",
      has_contrast: "Whether rewards differ; else it teaches nothing.",
      trajectories: "In the order of the request.",
    },
    TrajectoryGroupsAnswer: {
      state: "`waiting`: the job has not read its data; `none`: nothing is kept of it.",
      summary: "Of all groups; null unless they are kept.",
    },
    TrajectorySummary: {
      groups: "How many there are.",
      groups_with_contrast: "Those whose rewards differ, which teach something.",
      trajectories: "How many there are.",
      trajectories_trained: "Those of which anything is trained.",
      trained_tokens: "Tokens that are trained.",
      lowest_reward: "Of all trajectories; null: there are none.",
      highest_reward: "Of all trajectories; null: there are none.",
      drops: "What was not trained, by cause.",
    },
    "TrajectorySummary.drops": {
      cause: "A word for the reason.",
      reason: "In a sentence.",
      trajectories: "How many it is the reason of.",
    },
    "SameQuestion.trajectories": { reward: "What the rollout was worth." },
    SameQuestion: {
      training_job_id: "The job that was given the group.",
      output_step: "The checkpoint that the job made; null: none.",
      group: "Which group of that job's request, from 0.",
      mean_reward: "Mean of the rewards.",
      reward_std_dev: "Their standard deviation, as of a whole population.",
      has_contrast: "Whether rewards differ.",
      trajectories: "Those of the group that were asked the question.",
    },
    SameQuestionAnswer: {
      jobs_searched: "How many jobs of the model were looked through.",
      is_complete: "False: there are older jobs, which were not looked through.",
    },
    "Job, ListedJob, TrainedFromJob": {
      output_step: "The checkpoint that the job made; null until it has succeeded.",
      warnings: "What was not taken as the client may have meant it, such as settings that are not known.",
      kind: "`rl`: reinforcement learning; `sft`: fine-tuning on dialogues; `dpo`: on pairs of answers, direct preference optimization.",
      status:
        "A job is `queued`, then `running`, and ends as `succeeded`, `failed` or `cancelled`; `paused` until it is resumed.",
      started_at: "When it began to run; null: it has not.",
      paused_at: "Since when it is paused; null: it is not.",
    },
    JobsQuery: { status: "Only jobs of this status; may be given several times." },
    ListedJob: {
      expected_gradient_steps: "Steps of the optimizer that the job will do; null until it has begun.",
      gradient_steps: "Steps of the optimizer that are done by now.",
      estimated_seconds_left:
        "From how long its gradient steps took since it last began or went on; null: it does not run, or has not done two steps since.",
      model: "Name of the model that is trained.",
    },
    ListedModel: {
      latest_step: "The newest checkpoint; null: all were deleted.",
      open_jobs: "Jobs that are queued, run or are paused.",
      latest_step_at: "When the newest checkpoint was made; null: all were deleted.",
    },
    LogAnswer: {
      step: "The newest checkpoint of the model, which has the metrics now.",
      metrics: "What the trajectories give, such as `val/reward`, their mean reward.",
    },
    MetricCurve: {
      metric: "Name of the metric.",
      step: "Of each point the newest step that it stands for.",
      at: "When each of these steps was made.",
      min: "Of each point the least value of all values of its steps; a model has one for each gradient step.",
      max: "Of each point the greatest value of all values of its steps; a model has one for each gradient step.",
      mean: "Of each point the mean of all values of its steps; a model has one for each gradient step.",
      last: "The value at the newest step of each point: of several gradient steps their mean.",
      x: "Where each point stands, ascending: only of a run whose curves were asked for over a column, by `x`.",
    },
    ModelMetrics: {
      metrics: "Names of every metric that the model has at any step, sorted.",
      curves: "A curve for each metric that was asked for, all lists of equal length.",
    },
    ModelMetricsAnswer: {
      steps_per_point: "How many steps a point stands for; 1 unless there are more steps than `points`.",
    },
    ModelsQuery: {
      name: "Only the models of this name, one in each project.",
      query: "Occurs in the model's name, whatever the case of its letters.",
    },
    ReadCheckpoint: { job_id: "The training job that made it; null: the step that a model begins with." },
    RolloutException: {
      type: "Class of the exception.",
      message: "Its text.",
      traceback: "Where it happened, as Python prints it.",
    },
    SftJobConfig: {
      learning_rate: "Step size of the optimizer, or a list with one for each batch; 5e-5 when absent.",
      batch_size: "Rows for each step of the optimizer; absent or `auto`: 2.",
      metric_logging: "Which metrics of the job the server logs in the model's run, where the wandb client reads them.",
      assistant_turns: "Whether every message of the assistant is learned (`all`, when absent) or the `last` one only.",
    },
    "SftJobConfig.metric_logging": {
      enabled: "false: none; true: those of each gradient step and their means; absent: those of each gradient step.",
      target_training_step: "`training_step` of these rows; absent: the step that the job makes.",
    },
    SystemCheck: {
      database: "Whether the catalog answers.",
      cpu_queue: "The thread that reads and checks training data.",
      gpu_queue: "The engine; of several, whether one of them works.",
      disk: "Room on the disk of the data folder.",
      engines: "Each engine, in the order of the server's settings.",
    },
    "SystemCheck.cpu_queue, SystemCheck.disk, SystemCheck.engines, SystemCheck.gpu_queue": {
      success: "Whether the part works.",
      duration: "How long the check took, in seconds.",
      error: "What is wrong with the part; null: nothing.",
    },
    Trajectory: {
      exchanges:
        "The HTTP calls of the rollout, as openpipe-art captures them since 0.5.23; instead of `messages_and_choices`.",
      metrics: "Figures of the rollout by name; the checkpoint shows their means.",
      additional_histories: "Further conversations of the same rollout, trained with the same reward.",
      initial_policy_version: "Checkpoint that the rollout began on; training does not read it.",
      final_policy_version: "Checkpoint that the rollout ended on; training does not read it.",
      metadata: "What the client keeps beside the rollout; training does not read it.",
      logs: "Lines that the client logged; training does not read them.",
    },
    TrajectoryGroup: {
      metadata: "Whatever the client keeps beside the group; any JSON.",
      metrics: "Figures of the whole group by name.",
      exceptions: "Rollouts that failed: they count in the exception rate, and are not trained on.",
    },
  },
}
