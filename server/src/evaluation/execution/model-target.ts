/** From the name of a model to who serves it. */
import type { ProjectAccess } from "../project-access.ts"
import type { AdmittedChat } from "./chat-models.ts"
import type { ExecutionContext } from "./completion.ts"
import type { ExecutionDependencies } from "./dependencies.ts"

export interface ModelRequest {
  body: { model: string; [field: string]: unknown }
  exactBody: object
}

export interface AdmittedModel {
  chat: AdmittedChat
  /** Under which its usage is counted. */
  model: string
}

/** @throws {HeddleError} for what is wrong before the model is asked. */
export async function admitModel(
  { chatModels }: ExecutionDependencies,
  { principal, requestId }: ExecutionContext,
  project: ProjectAccess,
  { body, exactBody }: ModelRequest,
): Promise<AdmittedModel> {
  const chat = await chatModels.admit({ requestId, principal, project: project.name, body, exactBody })
  return { chat, model: body.model }
}
