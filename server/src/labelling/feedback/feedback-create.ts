/** Storing feedback: evaluation-store-objects 2.3 and 5. */
import { isStoreUnavailable } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { insertFeedback } from "../../storage/traces/labelling/feedback-rows.ts"
import type { PayloadDependencies } from "../../objects/payload/run-payload-task.ts"
import { answerFeedbackLookup } from "./feedback-lookup-answers.ts"
import { leaveInDoubt } from "./feedback-attempts.ts"
import type { FeedbackLookup } from "./feedback-lookups.ts"
import { feedbackTask, type NewFeedback, type SentFeedback } from "./feedback-task.ts"

/** Approximate size of a row without its payload. */
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
  const { traces, threads } = dependencies
  const input = { ...sent, userId: principal.userId }
  const answer = (lookup: FeedbackLookup) => answerFeedbackLookup(dependencies, principal, lookup)
  const { answers, attempt, ...rows } = await threads.run(feedbackTask, input, { ...options, answer })
  try {
    await insertFeedback(traces, rows)
  } catch (error) {
    if (isStoreUnavailable(error) || attempt.isInDoubt) leaveInDoubt(traces, attempt)
    throw error
  }
  return answers
}
