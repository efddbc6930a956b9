/** Finds what serves a model, by its name: a custom provider, or this server. */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import type { AdmittedChat } from "../../gateway/chat-models.ts"
import type { ExecutionDependencies } from "./dependencies.ts"
import { findProviderModel, isProviderModelName } from "./providers/provider.ts"
import { providerChat } from "../../gateway/providers/provider-chat.ts"

export interface ModelRequest {
  requestId: string
  body: { model: string; [field: string]: unknown }
  /** The same with its numbers as they were spelled. */
  exactBody: Record<string, unknown>
}

export interface AdmittedModel {
  chat: AdmittedChat
  /** Under which its usage is counted. */
  model: string
}

/** @throws {HeddleError} for what is wrong before the model is asked. */
export async function admitModel(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  request: ModelRequest,
): Promise<AdmittedModel> {
  const { model } = request.body
  if (isProviderModelName(model)) {
    const provider = await findProviderModel(dependencies, principal, project, model)
    return { chat: providerChat(dependencies.fetchPolicy, provider, request.exactBody), model: provider.usageName }
  }
  const chat = await dependencies.chatModels
    .admit({ ...request, caller: principal, project: project.name })
    .catch(withWayOut)
  return { chat, model }
}

function withWayOut(error: unknown): never {
  if (!(error instanceof HeddleError) || error.code !== "model_not_found") throw error
  throw new HeddleError(
    "model_not_found",
    `${error.message}; a model of another service is named custom::<runtime>::<id>`,
    {
      ...error.details,
      cause: error,
    },
  )
}
