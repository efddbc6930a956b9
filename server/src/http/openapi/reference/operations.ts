/** Descriptions and examples of all routes; one that is not here, or that there is no more, fails a test. */
import type { Operations } from "./operation.ts"
import { agentOperations } from "./operations/agent-operations.ts"
import { annotationOperations } from "./operations/annotation-operations.ts"
import { callOperations } from "./operations/call-operations.ts"
import { evaluationOperations } from "./operations/evaluation-operations.ts"
import { inferenceOperations } from "./operations/inference-operations.ts"
import { objectOperations } from "./operations/object-operations.ts"
import { platformOperations } from "./operations/platform-operations.ts"
import { rolloutOperations } from "./operations/rollout-operations.ts"
import { trainingOperations } from "./operations/training-operations.ts"

export const operations: Operations = {
  ...trainingOperations,
  ...rolloutOperations,
  ...inferenceOperations,
  ...callOperations,
  ...agentOperations,
  ...objectOperations,
  ...evaluationOperations,
  ...annotationOperations,
  ...platformOperations,
}
