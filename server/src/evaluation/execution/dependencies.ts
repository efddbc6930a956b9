import type { EvaluationDependencies } from "../dependencies.ts"
import type { ChatModels } from "./chat-models.ts"

export interface ExecutionDependencies extends EvaluationDependencies {
  chatModels: ChatModels
}
