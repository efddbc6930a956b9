/** Runs tasks on payloads for a request. */
import type { Principal } from "../../http/principal.ts"
import type { ThreadTask } from "../../threads/thread-task.ts"
import { answerQuestion, type PayloadDependencies } from "./lookup-answers.ts"
import type { PayloadQuestion } from "./payload-lookups.ts"

export type { PayloadDependencies } from "./lookup-answers.ts"

export interface PayloadOptions {
  /** Size of the payload. */
  bytes: number
}

/** @throws {HeddleError} what the task throws, what its questions meet, and as `ThreadPool.run`. */
export function runPayloadTask<I extends object, R extends object>(
  dependencies: PayloadDependencies,
  principal: Principal,
  task: ThreadTask<I, R, PayloadQuestion, unknown>,
  input: I,
  { bytes }: PayloadOptions,
): Promise<R> {
  const answer = (question: PayloadQuestion) => answerQuestion(dependencies, principal, question)
  return dependencies.threads.run(task, input, { bytes, answer })
}
