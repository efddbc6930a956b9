/** Makes, stores and reads feedback with few fields. */
import { feedbackCreated, feedbackPage } from "../../src/wire/labelling/feedback.ts"
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
  const answer = await caller.post("/feedback/create", feedbackItem(project, fields))
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return feedbackCreated.strict().parse(answer.body)
}

export async function foundFeedback(caller: EvaluationCaller, project: string, fields: Record<string, unknown> = {}) {
  const answer = await caller.post("/feedback/query", { project_id: project, ...fields })
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return feedbackPage.strict().parse(answer.body)
}
