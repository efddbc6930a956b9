/** Runs tasks on payloads for a request. */
import type { Principal } from "../../http/principal.ts"
import type { ThreadTask } from "../../threads/thread-task.ts"
import { answerLookup, type PayloadDependencies } from "./lookup-answers.ts"
import type { PayloadLookup } from "./payload-lookups.ts"

export type { PayloadDependencies } from "./lookup-answers.ts"

export interface PayloadOptions {
  /** Size of the payload. */
  bytes: number
}

/** @throws {HeddleError} what the task throws, what its lookups throw, and as `ThreadPool.run`. */
export function runPayloadTask<I extends object, R extends object>(
  dependencies: PayloadDependencies,
  principal: Principal,
  task: ThreadTask<I, R, PayloadLookup, unknown>,
  input: I,
  { bytes }: PayloadOptions,
): Promise<R> {
  const answer = (lookup: PayloadLookup) => answerLookup(dependencies, principal, lookup)
  return dependencies.threads.run(task, input, { bytes, answer })
}
