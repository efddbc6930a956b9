/** Makes, stores and reads feedback with few fields. */
import { feedbackCreated, feedbackPage } from "../../src/wire/labelling/feedback.ts"
import { strictly } from "./answers.ts"
import type { EvaluationCaller } from "./evaluation-app.ts"

export const callRef = (project: string, id = "0190a1b2-0000-7000-8000-000000000001") =>
  `weave:///${project}/call/${id}`

export const feedbackItem = (project: string, fields: Record<string, unknown> = {}) => ({
  project_id: project,
  weave_ref: callRef(project),
  feedback_type: "custom",
  payload: { note: "hello" },
  ...fields,
})

export async function createdFeedback(caller: EvaluationCaller, project: string, fields: Record<string, unknown> = {}) {
  return strictly(feedbackCreated, await caller.post("/feedback/create", feedbackItem(project, fields)))
}

export async function foundFeedback(caller: EvaluationCaller, project: string, fields: Record<string, unknown> = {}) {
  return strictly(feedbackPage, await caller.post("/feedback/query", { project_id: project, ...fields }))
}
