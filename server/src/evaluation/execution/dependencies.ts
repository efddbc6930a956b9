import type { EvaluationDependencies } from "../dependencies.ts"
import type { FetchPolicy } from "../../outbound/public-address.ts"
import type { ChatModels } from "./chat-models.ts"
import type { ProviderSecrets } from "./providers/provider-secrets.ts"

export interface ExecutionDependencies extends EvaluationDependencies {
  chatModels: ChatModels
  /** Of custom providers. */
  secrets: ProviderSecrets
  /** What custom providers may be reached at. */
  fetchPolicy: FetchPolicy
}
