import { scopeAllows } from "../../access/can.ts"
import type { Principal } from "../../http/principal.ts"
import type { RunDependencies } from "./run-dependencies.ts"
import { RunReads } from "./run-reads.ts"

/** Context of one GraphQL request about runs. */
export interface RunContext extends RunDependencies {
  principal: Principal
  reads: RunReads
  /** The server's own address, as the client reached it. */
  baseAddress: string
}

export function runContext(dependencies: RunDependencies, principal: Principal, baseAddress: string): RunContext {
  return { ...dependencies, principal, reads: new RunReads(), baseAddress }
}

/** A key that may only add is told which run or version it writes, and nothing that is in it: these fields are null for it. */
export function withContentsForReaders<Node extends object>(
  { principal }: Pick<RunContext, "principal">,
  node: Node,
  contentFields: readonly string[],
): Node {
  if (scopeAllows(principal.scope, { right: "read" })) return node
  return { ...node, ...Object.fromEntries(contentFields.map((name) => [name, null])) }
}
