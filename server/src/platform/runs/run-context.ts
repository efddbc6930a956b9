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
