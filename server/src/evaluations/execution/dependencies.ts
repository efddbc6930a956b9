import type { CallDependencies } from "../../calls/dependencies.ts"
import type { FetchPolicy } from "../../outbound/public-address.ts"
import type { ChatModels } from "../../gateway/chat-models.ts"
import type { LateEnds } from "./late-ends.ts"
import type { ProviderSecrets } from "../../gateway/providers/provider-secrets.ts"

export interface ExecutionDependencies extends CallDependencies {
  chatModels: ChatModels
  /** Secrets of custom providers. */
  secrets: ProviderSecrets
  /** Addresses at which custom providers may be reached. */
  fetchPolicy: FetchPolicy
}

export interface CompletionDependencies extends ExecutionDependencies {
  lateEnds: LateEnds
}
