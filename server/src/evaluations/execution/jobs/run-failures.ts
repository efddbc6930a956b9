/** Failures of a run, for its summary and status: a run with failures is no plain success. */
import { readRunAttempts, type RunAttempts } from "../../../storage/traces/evaluations/run-attempts.ts"
import type { EvaluationFailures, FailureCount } from "../../../wire/evaluations/execution.ts"
import { tryParseRef } from "../../../objects/refs/refs.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import type { JobContext } from "./job-runner.ts"

/** The `summary` of the run's root call as JSON text; `{}` when nothing failed. */
export async function runSummary(
  { traces }: Pick<ExecutionDependencies, "traces">,
  { jobId, project }: JobContext,
): Promise<string> {
  const attempts = await readRunAttempts(traces, project.id, jobId)
  const failed = attempts.reduce((sum, one) => sum + one.failed, 0)
  if (failed === 0) return "{}"
  const tried = attempts.reduce((sum, one) => sum + one.attempts, 0)
  return JSON.stringify({ ...statusCounts(tried - failed, failed), failures: failuresOf(attempts) })
}

/** As the SDKs sum them up; a call with errors below it has the status `descendant_error` (evaluation-store-calls 3.2). */
export function statusCounts(success: number, error: number) {
  return { status_counts: { success, error } }
}

function failuresOf(attempts: readonly RunAttempts[]): EvaluationFailures {
  const none: FailureCount = { failed: 0, of: 0, reasons: [] }
  const scorers = new Map<string, FailureCount>()
  let predictions = none
  for (const { scorer, ...tried } of attempts) {
    if (scorer === null) predictions = countOf(none, tried)
    else {
      const name = tryParseRef(scorer)?.name ?? scorer
      scorers.set(name, countOf(scorers.get(name) ?? none, tried))
    }
  }
  return { predictions, scorers: Object.fromEntries([...scorers].filter(([, count]) => count.failed > 0)) }
}

function countOf(sum: FailureCount, { attempts, failed, reasons }: Omit<RunAttempts, "scorer">): FailureCount {
  return { failed: sum.failed + failed, of: sum.of + attempts, reasons: [...sum.reasons, ...reasons] }
}
