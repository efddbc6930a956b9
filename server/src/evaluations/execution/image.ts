/** `/image/create`: evaluation-store-calls 9. Images come from custom providers; our own models make none. */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import { memberText } from "../../json/json-members.ts"
import type { ImageBody } from "../../wire/evaluations/completion.ts"
import { ensureProject } from "../../access/project-access.ts"
import type { ExecutionContext } from "./completion.ts"
import { failureText } from "../../gateway/providers/model-failure.ts"
import type { CompletionDependencies } from "./dependencies.ts"
import { findProviderModel, isProviderModelName } from "./providers/provider.ts"
import { timeoutMs } from "../../gateway/providers/provider-chat.ts"
import { askProvider } from "../../gateway/providers/provider-request.ts"
import { usageSummary } from "../../calls/write/recorded-call.ts"
import { RecordedCompletion } from "./recorded-completion.ts"

const opName = "weave.image_generation_create"

/** The body of the answer. @throws {HeddleError} for what is wrong before the provider is asked. */
export async function createImage(
  dependencies: CompletionDependencies,
  { principal, signal }: ExecutionContext,
  body: ImageBody,
  exactInputs: Record<string, unknown>,
): Promise<string> {
  const project = await ensureProject(dependencies.database, principal, body.project_id)
  const { model } = body.inputs
  if (!isProviderModelName(model)) {
    throw new HeddleError(
      "invalid_request",
      `no provider makes images under the name "${model}"; apply a runtime (PUT /v2/{entity}/{project}/runtimes/{name}) and name its model custom::<runtime>::<id>`,
    )
  }
  const provider = await findProviderModel(dependencies, principal, project, model)
  const { extra_headers: _headers, timeout, ...parameters } = exactInputs
  const call = {
    provider,
    path: "/images/generations",
    body: JSON.stringify({ ...parameters, model: provider.model }),
    timeoutMs: timeoutMs(timeout),
  }
  const id = body.track_llm_call === false ? null : randomUUIDv7()
  const start = { traceId: randomUUIDv7(), parentId: null, opName, startedAt: new Date(), attributes: "{}" }
  const inputs = JSON.stringify(parameters)
  const recorded =
    id === null ? null : new RecordedCompletion(dependencies, principal, project, { ...start, id, inputs })
  await recorded?.begin()
  let exception: string | null = null
  const { text: response } = await askProvider(dependencies.fetchPolicy, call, signal).catch((error: unknown) => {
    exception = failureText(error)
    return { text: JSON.stringify({ error: exception }) }
  })
  const summary = usageSummary(provider.usageName, exception === null ? memberText(response, "usage") : null)
  await recorded?.end({ output: response, summary, exception })
  return `{"response":${response},"weave_call_id":${JSON.stringify(id)}}`
}
