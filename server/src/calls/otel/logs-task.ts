/** Reads the log records of an export request, as a task that may run on another thread: evaluation-store-calls 8. */
import { HeddleError } from "../../errors.ts"
import { threadTask } from "../../threads/thread-task.ts"
import { mostFeedback } from "../../wire/labelling/feedback.ts"
import { checkPayloadSize } from "../../labelling/feedback/payload-size.ts"
import type { PayloadLookup } from "../../objects/payload/payload-lookups.ts"
import { type EvaluationResult, evaluationResult } from "./evaluation-event.ts"
import type { LogRecord } from "./log-record.ts"
import { ExportOutcome } from "./otlp/otlp-answer.ts"
import { logRecordsOf, logsBody } from "./otlp/otlp-encoding.ts"
import type { OtlpInput, Outcome, SpanOwner } from "./otlp/otlp-input.ts"
import { ResourceOwners } from "./resource-owners.ts"

const otherRecords = "only events gen_ai.evaluation.result are stored; send other log records elsewhere"

/** The evaluation results of one resource. */
export interface OwnedResults {
  owner: SpanOwner
  results: EvaluationResult[]
}

export const logsTask = threadTask<OtlpInput, { owned: OwnedResults[]; outcome: Outcome }, PayloadLookup, unknown>({
  name: "otel/logs",
  ownThreadBytes: 128 * 1024,
  *run({ bytes, contentType, naming, limits }) {
    const body = logsBody(bytes, contentType)
    const owners = new ResourceOwners(naming)
    yield* owners.find(body.resources, false)
    const outcome = new ExportOutcome()
    const all = logRecordsOf(body, limits).map(({ resource, scopes }) => ({
      resource,
      results: resultsOf(
        scopes.flatMap((one) => one.items),
        outcome,
      ),
    }))
    const found = all.filter(({ results }) => results.length > 0)
    const count = found.reduce((sum, { results }) => sum + results.length, 0)
    if (count > mostFeedback) throw tooManyResults(count)
    yield* owners.find(
      found.map(({ resource }) => resource),
      true,
    )
    const owned = found.flatMap(({ resource, results }) => {
      const owner = outcome.needed(results.length, () => owners.of(resource))
      if (owner === null) return []
      outcome.accept(results.length)
      return { owner, results }
    })
    outcome.assertAnyAccepted()
    return { owned, outcome: outcome.toPlain() }
  },
})

function resultsOf(records: readonly LogRecord[], outcome: ExportOutcome): EvaluationResult[] {
  const results: EvaluationResult[] = []
  for (const record of records) {
    try {
      const result = evaluationResult(record)
      if (result === null) outcome.ignore(otherRecords)
      else {
        checkPayloadSize(result.payload)
        results.push(result)
      }
    } catch (error) {
      outcome.reject(error)
    }
  }
  return results
}

function tooManyResults(count: number): HeddleError {
  const message = `the request has ${count} evaluation results; one may have ${mostFeedback}. Send them in smaller batches`
  return new HeddleError("payload_too_large", message)
}
