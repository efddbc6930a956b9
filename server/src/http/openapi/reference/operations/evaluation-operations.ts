import type { ExampleNames } from "../example-names.ts"
import type { Operations } from "../operation.ts"

const inPath = ({ entity, project }: ExampleNames) => ({ entity, project })
const messages = [{ role: "user", content: "Say hi" }]
const nothingOfCode = "The server runs judges and models that are prompts; code is refused with 400, by name."

export const evaluationOperations: Operations = {
  "POST /v2/:entity/:project/evaluation_runs": {
    description: "After this, record predictions and scores with the run's id, then finish the run.",
    example: (h) => ({ params: inPath(h), body: { evaluation: h.evaluationRef, model: h.modelRef } }),
  },
  "GET /v2/:entity/:project/evaluation_runs": {
    description: "Lists all runs, or those with an id, an evaluation or a model.",
    example: (h) => ({ params: inPath(h), query: { evaluations: h.evaluationRef } }),
  },
  "GET /v2/:entity/:project/evaluation_runs/:evaluation_run_id": {
    description: "Returns the run's status, times and summary.",
    example: (h) => ({ params: { ...inPath(h), evaluation_run_id: h.runId } }),
  },
  "DELETE /v2/:entity/:project/evaluation_runs": {
    description: "Deletes the runs' predictions and scores too.",
    example: (h) => ({ params: inPath(h), body: { evaluation_run_ids: [h.runId] } }),
  },
  "POST /v2/:entity/:project/evaluation_runs/:evaluation_run_id/finish": {
    description: "The server computes the means from the scores that are stored.",
    example: (h) => ({
      params: { ...inPath(h), evaluation_run_id: h.runId },
      body: { summary: { note: "first try" } },
    }),
  },
  "POST /v2/:entity/:project/predictions": {
    description: "The prediction belongs to the run of `evaluation_run_id`; without it, to none.",
    example: (h) => ({
      params: inPath(h),
      body: { model: h.modelRef, inputs: { question: "4+5=" }, output: "9", evaluation_run_id: h.runId },
    }),
  },
  "GET /v2/:entity/:project/predictions": {
    description: "Lists the predictions of a run, or all of the project.",
    example: (h) => ({ params: inPath(h), query: { evaluation_run_id: h.runId } }),
  },
  "GET /v2/:entity/:project/predictions/:prediction_id": {
    description: "Returns the prediction's inputs, output and run.",
    example: (h) => ({ params: { ...inPath(h), prediction_id: h.predictionId } }),
  },
  "DELETE /v2/:entity/:project/predictions": {
    description: "Deletes the predictions' scores too.",
    example: (h) => ({ params: inPath(h), body: { prediction_ids: [h.predictionId] } }),
  },
  "POST /v2/:entity/:project/predictions/:prediction_id/finish": {
    description: "Send this after the last score of the prediction.",
    example: (h) => ({ params: { ...inPath(h), prediction_id: h.predictionId } }),
  },
  "POST /v2/:entity/:project/scores": {
    description: "`value` is a number, true or false, or an object of these.",
    example: (h) => ({
      params: inPath(h),
      body: { prediction_id: h.predictionId, scorer: h.scorerRef, value: 1, evaluation_run_id: h.runId },
    }),
  },
  "GET /v2/:entity/:project/scores": {
    description: "Lists the scores of a run, or all of the project.",
    example: (h) => ({ params: inPath(h), query: { evaluation_run_id: h.runId } }),
  },
  "GET /v2/:entity/:project/scores/:score_id": {
    description: "Returns the score's value and its scorer.",
    example: (h) => ({ params: { ...inPath(h), score_id: h.scoreId } }),
  },
  "DELETE /v2/:entity/:project/scores": {
    description: "The predictions stay.",
    example: (h) => ({ params: inPath(h), body: { score_ids: [h.scoreId] } }),
  },
  "POST /v2/:entity/:project/eval_results/query": {
    description:
      "Give the evaluations to compare: runs of this server, or calls that the SDK's `Evaluation` recorded. Rows come side by " +
      "side, each with its trials; `include_summary` adds pass rates and means of each scorer.",
    example: (h) => ({
      params: inPath(h),
      body: { evaluation_run_ids: [h.runId], include_summary: true, resolve_row_refs: true, limit: 50 },
    }),
  },
  "POST /completions/create": {
    description:
      "Takes what `/v1/chat/completions` takes, and models of other services too. If the model fails, the answer has `error`.",
    example: ({ projectId: project_id }) => ({ body: { project_id, inputs: { model: "heddle/tiny", messages } } }),
  },
  "POST /completions/create_stream": {
    description: "The first line has the id of the call; the chunks follow.",
    example: ({ projectId: project_id }) => ({ body: { project_id, inputs: { model: "heddle/tiny", messages } } }),
  },
  "POST /image/create": {
    description: "The server's own models produce only text, so the model must be one of a runtime.",
    example: (h) => ({
      body: { project_id: h.projectId, inputs: { model: `custom::${h.runtimeName}::painter`, prompt: "a cat" } },
    }),
  },
  "PUT /v2/:entity/:project/runtimes/:runtime_name": {
    description: "Requests then name its models `custom::<runtime>::<id>`. The list of ids replaces an earlier one.",
    example: (h) => ({
      params: { ...inPath(h), runtime_name: h.runtimeName },
      body: { base_url: "https://models.example.com/v1", runtime_ids: [{ id: "support-v12", max_tokens: 8192 }] },
    }),
  },
  "GET /v2/:entity/:project/provider_keys": {
    description:
      "The operator keeps the keys in the file that `HEDDLE_SECRETS` names. Their values are never shown, nor the names of those that are for other teams.",
    example: (h) => ({ params: inPath(h) }),
  },
  "POST /calls/score": {
    description: `Scores become feedback on the calls, a call of the judge behind each. ${nothingOfCode}`,
    example: (h) => ({ body: { project_id: h.projectId, call_ids: [h.callId], scorer_refs: [h.scorerRef] } }),
  },
  "POST /scoring_rules": {
    description:
      "Calls that end from now on are compared with `filter` and `query`; a share of those that match is scored, and each score is " +
      "feedback `wandb.runnable.<name>` on its call. Imported calls are not new ones. Beside rules that are made here, each " +
      "`weave.Monitor` that is published is one.",
    example: (h) => ({
      body: {
        project_id: h.projectId,
        name: "polite",
        filter: { op_names: [h.opRef] },
        sampling_rate: 0.1,
        scorer: { kind: "judge", model: "heddle/tiny", prompt: "Is {output} polite?", min: 0, max: 1 },
        daily_budget: { judge_calls: 500 },
      },
    }),
  },
  "POST /scoring_rules/query": {
    description:
      "Lists the rules by name. Counters count since the rule was made; `today` begins anew at midnight UTC.",
    example: (h) => ({ body: { project_id: h.projectId } }),
  },
  "GET /scoring_rules/:rule_id": {
    description: "Its `state` is `stopped` where the server cannot go on with it, and `stopped_reason` says why.",
    example: (h) => ({ params: { rule_id: h.ruleId }, query: { project_id: h.projectId } }),
  },
  "PUT /scoring_rules/:rule_id": {
    description:
      "With `active` false it is paused: calls that come meanwhile are not scored later. A rule that was stopped goes on, with the " +
      "key of whoever changes it. For a rule that is a monitor, only the budget can be set here.",
    example: (h) => ({
      params: { rule_id: h.ruleId },
      body: { project_id: h.projectId, active: false, daily_budget: { judge_calls: 100, tokens: 50_000 } },
    }),
  },
  "DELETE /scoring_rules/:rule_id": {
    description: "Calls that wait for it are not scored any more.",
    example: (h) => ({ params: { rule_id: h.ruleId }, query: { project_id: h.projectId } }),
  },
  "POST /actions/execute_batch": {
    description: "An action is an object of the class `ActionSpec`: words to look for, or a question to a model.",
    example: (h) => ({ body: { project_id: h.projectId, action_ref: h.objectRef, call_ids: [h.callId] } }),
  },
  "POST /evaluations/evaluate_model": {
    description: `Answers with the id to ask \`/evaluations/status\` for. ${nothingOfCode}`,
    example: (h) => ({
      body: { project_id: h.projectId, evaluation_ref: h.evaluationRef, model_ref: h.modelRef },
    }),
  },
  "POST /evaluations/status": {
    description:
      "The status is `running` with the rows that are done, `complete` with the summary and what failed, or `failed` with the reason.",
    example: (h) => ({ body: { project_id: h.projectId, call_id: h.evaluateCallId } }),
  },
  "POST /evaluations/rescore": {
    description: `The stored predictions are scored; the model is not asked again. ${nothingOfCode}`,
    example: (h) => ({
      body: { project_id: h.projectId, source_evaluation_run_id: h.runId, scorer_refs: [h.scorerRef] },
    }),
  },
}
