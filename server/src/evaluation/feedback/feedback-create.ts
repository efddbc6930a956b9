/** Storing feedback: evaluation-store-objects 2.3 and 5. */
import { isStoreAway } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { insertFeedback } from "../../storage/traces/feedback/feedback-rows.ts"
import { type PayloadDependencies, runPayloadTask } from "../payload/run-payload-task.ts"
import { leaveInDoubt } from "./feedback-attempts.ts"
import { feedbackTask, type NewFeedback, type SentFeedback } from "./feedback-task.ts"

/** What a row takes beside its payload, about. */
const fieldBytes = 500

/** All items or none. @throws {HeddleError} */
export async function createFeedback(
  dependencies: PayloadDependencies,
  principal: Principal,
  items: readonly NewFeedback[],
): Promise<void> {
  if (items.length === 0) return
  const bytes = items.reduce((sum, { payload }) => sum + payload.length + fieldBytes, 0)
  await store(dependencies, principal, { form: "items", items }, { bytes })
}

/** As the body of a request has it; returns a JSON list: what is answered of each item. @throws {HeddleError} */
export async function createSentFeedback(
  dependencies: PayloadDependencies,
  principal: Principal,
  form: "one" | "batch" | "replacement",
  body: Buffer,
): Promise<Buffer> {
  return store(dependencies, principal, { form, bytes: body }, { bytes: body.length })
}

async function store(
  dependencies: PayloadDependencies,
  principal: Principal,
  sent: SentFeedback,
  options: { bytes: number },
): Promise<Buffer> {
  const { traces } = dependencies
  const input = { ...sent, userId: principal.userId }
  const { answers, attempt, ...rows } = await runPayloadTask(dependencies, principal, feedbackTask, input, options)
  try {
    await insertFeedback(traces, rows)
  } catch (error) {
    if (isStoreAway(error) || attempt.isInDoubt) leaveInDoubt(traces, attempt)
    throw error
  }
  return answers
}
