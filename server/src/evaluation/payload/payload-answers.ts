/** What tasks on payloads ask, answered from the stores. */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { liveQueueIds } from "../../storage/catalog/annotation-queues.ts"
import { findProjectNames, findProjects, internalProjectId } from "../../storage/catalog/projects.ts"
import { findFeedback, type StoredFeedback } from "../../storage/traces/feedback/feedback-rows.ts"
import { tableDigests } from "../../storage/traces/table-rows.ts"
import type { Answer } from "../../threads/thread-task.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { checkAnnotationValues } from "../feedback/feedback-annotation.ts"
import { beginAttempt } from "../feedback/feedback-attempts.ts"
import { findAnnotationSpec } from "../objects/annotation-spec.ts"
import { ownTeam, teamIds } from "../../access/can.ts"
import { ensureProject, projectIfThere } from "../../access/project-access.ts"
import { checkSchema } from "../schemas/user-schemas.ts"
import {
  type AnswerTo,
  type Asked,
  checkProjectCount,
  type PayloadQuestion,
  type ProjectAnswer,
} from "./payload-question.ts"

export type PayloadDependencies = Pick<EvaluationDependencies, "database" | "traces" | "threads" | "limits">

/** What a digest takes of memory. */
const digestBytes = 64

/** @throws {HeddleError} when the answer is that the request is refused. */
export async function answerQuestion(
  dependencies: PayloadDependencies,
  principal: Principal,
  question: PayloadQuestion,
): Promise<Answer<unknown>> {
  switch (question.kind) {
    case "projects":
      return { value: await writableProjects(dependencies, principal, question) }
    case "owners":
      return { value: await projectAnswers(dependencies, principal, question) }
    case "refs":
      return { value: await findRefProjects(dependencies, principal, question) }
    case "schema":
      await checkSchema(dependencies, question)
      return { value: null }
    case "queues":
      await checkQueues(dependencies, question)
      return { value: null }
    case "annotations":
      await checkAnnotations(dependencies, question)
      return { value: null }
    case "feedback":
      return { value: await feedbackStored(dependencies, question) }
    case "attempt":
      return { value: beginAttempt(dependencies.traces, question.key) }
    case "tableDigests": {
      const value = await tableDigests(dependencies.traces, question.projectId, question.digest)
      return { value, bytes: digestBytes * (value?.length ?? 0) }
    }
  }
}

async function writableProjects(
  { database, limits }: PayloadDependencies,
  principal: Principal,
  { names, make }: Asked<"projects">,
): Promise<AnswerTo<"projects">> {
  checkProjectCount(names.length, limits.request_projects)
  const ids = new Map<string, string | null>()
  for (const name of names) ids.set(name, (await projectIfThere(database, principal, name))?.id ?? null)
  // None is made for a request that names one of another team's.
  for (const [name, id] of make ? ids : []) {
    if (id === null) ids.set(name, (await ensureProject(database, principal, name)).id)
  }
  return ids
}

async function projectAnswers(
  { database, limits }: PayloadDependencies,
  principal: Principal,
  { names, make }: Asked<"owners">,
): Promise<AnswerTo<"owners">> {
  checkProjectCount(names.length, limits.request_projects)
  const answers = new Map<string, ProjectAnswer>()
  for (const name of names) {
    try {
      const project = await (make ? ensureProject : projectIfThere)(database, principal, name)
      answers.set(name, { id: project?.id ?? null })
    } catch (error) {
      if (!(error instanceof HeddleError) || error.status >= 500) throw error
      answers.set(name, { code: error.code, message: error.message })
    }
  }
  return answers
}

async function findRefProjects(
  { database }: PayloadDependencies,
  principal: Principal,
  { names, ids }: Asked<"refs">,
): Promise<AnswerTo<"refs">> {
  const keys = names.flatMap((name) => {
    const [entityName, project = ""] = name.split("/")
    const entity = ownTeam(principal, entityName ?? "")
    return entity === undefined ? [] : [{ entityId: entity.id, name: project, ref: name }]
  })
  const found = await findProjects(database, keys)
  const known = await findProjectNames(database, teamIds(principal), ids)
  const internalIds = keys.flatMap(({ ref }, index) => {
    const id = found[index] ?? null
    return id === null ? [] : [[ref, internalProjectId(id)] as const]
  })
  return { ids: new Map(internalIds), names: known }
}

async function checkQueues({ database }: PayloadDependencies, { named }: Asked<"queues">): Promise<void> {
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
  { annotations }: Asked<"annotations">,
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
  { named }: Asked<"feedback">,
): Promise<readonly StoredFeedback[]> {
  const found: StoredFeedback[] = []
  for (const [projectId, ofProject] of Map.groupBy(named, (one) => one.projectId)) {
    const ids = ofProject.map(({ id }) => id)
    found.push(...(await findFeedback(traces, projectId, ids)))
  }
  return found
}
