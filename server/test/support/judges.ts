/** Makes and publishes things that the server can run: models, judges, datasets, evaluations. */
import { expect } from "vitest"
import type { EvaluationCaller } from "./evaluation-app.ts"

export async function publish(
  caller: EvaluationCaller,
  project_id: string,
  object_id: string,
  val: object,
  more: object = {},
) {
  const answer = await caller.post("/obj/create", { obj: { project_id, object_id, val, ...more } })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return `weave:///${project_id}/object/${object_id}:${(answer.body as { digest: string }).digest}`
}

const instance = (name: string, base: string) => ({
  _type: name,
  _class_name: name,
  _bases: [base, "Object", "BaseModel"],
})

export const structuredModel = (default_params: object = {}, llm_model_id = "heddle/tiny") => ({
  ...instance("LLMStructuredCompletionModel", "Model"),
  name: "answerer",
  llm_model_id,
  default_params,
})

/** A judge as weave 0.54 publishes it, with its model inside and without ops. */
export const judge = (scoring_prompt: unknown, more: object = {}) => ({
  ...instance("LLMAsAJudgeScorer", "Scorer"),
  name: "judge",
  model: structuredModel({ response_format: "json_object", temperature: 0 }),
  scoring_prompt,
  column_map: null,
  ...more,
})

export async function publishDataset(caller: EvaluationCaller, project: string, rows: object[]): Promise<string> {
  const table = await caller.post("/table/create", { table: { project_id: project, rows } })
  const { digest } = table.body as { digest: string }
  return publish(caller, project, "questions", {
    _type: "Dataset",
    _class_name: "Dataset",
    _bases: ["Object", "BaseModel"],
    rows: `weave:///${project}/table/${digest}`,
  })
}

export const evaluation = (dataset: string, scorers: string[], more: object = {}) => ({
  _type: "Evaluation",
  _class_name: "Evaluation",
  _bases: ["Object", "BaseModel"],
  dataset,
  scorers,
  trials: 1,
  ...more,
})
