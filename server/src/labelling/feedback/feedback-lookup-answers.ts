/** Answers the lookups of tasks on feedback from the stores. */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { answerLookup, type PayloadDependencies } from "../../objects/payload/lookup-answers.ts"
import { liveQueueIds } from "../../storage/catalog/labelling/annotation-queues.ts"
import { findFeedback, type StoredFeedback } from "../../storage/traces/labelling/feedback-rows.ts"
import type { Answer } from "../../threads/thread-task.ts"
import { findAnnotationSpec } from "../annotation/annotation-spec.ts"
import { checkAnnotationValues } from "./feedback-annotation.ts"
import { beginAttempt } from "./feedback-attempts.ts"
import type { LookupFor, FeedbackLookup } from "./feedback-lookups.ts"

/** @throws {HeddleError} when the answer is that the request is refused. */
export async function answerFeedbackLookup(
  dependencies: PayloadDependencies,
  principal: Principal,
  lookup: FeedbackLookup,
): Promise<Answer<unknown>> {
  switch (lookup.kind) {
    case "queues":
      await checkQueues(dependencies, lookup)
      return { value: null }
    case "annotations":
      await checkAnnotations(dependencies, lookup)
      return { value: null }
    case "feedback":
      return { value: await feedbackStored(dependencies, lookup) }
    case "attempt":
      return { value: beginAttempt(dependencies.traces, lookup.key) }
    case "projects":
    case "owners":
    case "refs":
    case "schema":
    case "tableDigests":
      return answerLookup(dependencies, principal, lookup)
  }
}

async function checkQueues({ database }: PayloadDependencies, { named }: LookupFor<"queues">): Promise<void> {
  for (const [projectId, ofProject] of Map.groupBy(named, (one) => one.projectId)) {
    const ids = [...new Set(ofProject.map(({ id }) => id))]
    const live = await liveQueueIds(database, projectId, ids)
    const missing = ids.find((id) => !live.has(id))
    if (missing === undefined) continue
    throw new HeddleError("invalid_request", `Queue ${missing} not found or has been deleted`)
  }
}

/** Each is looked up and compiled. */
const mostSpecs = 100

async function checkAnnotations(
  dependencies: PayloadDependencies,
  { annotations }: LookupFor<"annotations">,
): Promise<void> {
  if (annotations.length > mostSpecs) {
    const message = `the request has values for ${annotations.length} annotation specs; one may have them for ${mostSpecs}`
    throw new HeddleError("payload_too_large", message)
  }
  for (const { projectId, ref, values } of annotations) {
    const text = await findAnnotationSpec(dependencies.database, projectId, ref)
    await checkAnnotationValues(dependencies, { ref, text }, values)
  }
}

async function feedbackStored(
  { traces }: PayloadDependencies,
  { named }: LookupFor<"feedback">,
): Promise<readonly StoredFeedback[]> {
  const found: StoredFeedback[] = []
  for (const [projectId, ofProject] of Map.groupBy(named, (one) => one.projectId)) {
    const ids = ofProject.map(({ id }) => id)
    found.push(...(await findFeedback(traces, projectId, ids)))
  }
  return found
}
