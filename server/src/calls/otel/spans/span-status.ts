/** Whether a span failed: evaluation-store-calls 8. */
import { type Span, statusError } from "../trace-request.ts"
import { firstFound, pathsOf, textOf } from "./attribute-lookup.ts"
import { statusNames } from "./attribute-names.ts"
import type { AttributeTree } from "./attribute-tree.ts"

const levelPaths = pathsOf(statusNames.level)
const messagePaths = pathsOf(statusNames.message)

/** The span's own status. Langfuse's clients leave it unset and tell a failure by attributes. */
export function statusOf({ status }: Span, trees: readonly AttributeTree[]): Span["status"] {
  const code = status.code === 0 && textOf(firstFound(trees, levelPaths)) === "ERROR" ? statusError : status.code
  if (code !== statusError || status.message !== "") return { ...status, code }
  return { code, message: textOf(firstFound(trees, messagePaths)) ?? "" }
}
