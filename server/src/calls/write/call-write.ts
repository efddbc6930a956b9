/** Storing calls: evaluation-store-calls 2. */
import type { Principal } from "../../http/principal.ts"
import type { CallDependencies } from "../dependencies.ts"
import { type PayloadDependencies, runPayloadTask } from "../../objects/payload/run-payload-task.ts"
import type { CallEnvelope } from "./call-body.ts"
import { callsTask } from "./calls-task.ts"

export interface SentCalls {
  bytes: Buffer
  envelope: CallEnvelope
  /** The `entity/project` of a v2 path, which every call must name. */
  pathProject?: string
}

/**
 * Stores all calls of the body or none.
 * @returns a JSON list: of each item its ids, `{}` of an end.
 * @throws {HeddleError} 400, 403, 413, 422, 503.
 */
export async function writeCalls(
  dependencies: PayloadDependencies & Pick<CallDependencies, "writer">,
  principal: Principal,
  { bytes, envelope, pathProject }: SentCalls,
): Promise<Buffer> {
  const input = { bytes, envelope, pathProject: pathProject ?? null, userId: principal.userId }
  const options = { bytes: bytes.length }
  const { ids, ...batch } = await runPayloadTask(dependencies, principal, callsTask, input, options)
  await dependencies.writer.add(batch)
  return ids
}
