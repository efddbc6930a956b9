/** Answers the lookups of tasks on payloads from the stores. */
import { isRefusal } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { findProjectNames, findProjects, internalProjectId } from "../../storage/catalog/accounts/projects.ts"
import { tableDigests } from "../../storage/traces/table-digests.ts"
import type { Answer } from "../../threads/thread-task.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { ownTeam, teamIds } from "../../access/can.ts"
import { ensureProject, projectIfThere } from "../../access/project-access.ts"
import { checkSchema } from "../schemas/user-schemas.ts"
import {
  type AnswerTo,
  type LookupFor,
  checkProjectCount,
  type PayloadLookup,
  type ProjectAnswer,
} from "./payload-lookups.ts"

export type PayloadDependencies = Pick<StoreDependencies, "database" | "traces" | "threads" | "limits">

/** Memory that a digest takes. */
const digestBytes = 64

/** @throws {HeddleError} when the answer is that the request is refused. */
export async function answerLookup(
  dependencies: PayloadDependencies,
  principal: Principal,
  lookup: PayloadLookup,
): Promise<Answer<unknown>> {
  switch (lookup.kind) {
    case "projects":
      return { value: await writableProjects(dependencies, principal, lookup) }
    case "owners":
      return { value: await projectAnswers(dependencies, principal, lookup) }
    case "refs":
      return { value: await findRefProjects(dependencies, principal, lookup) }
    case "schema":
      await checkSchema(dependencies, lookup)
      return { value: null }
    case "tableDigests": {
      const value = await tableDigests(dependencies.traces, lookup.projectId, lookup.digest)
      return { value, bytes: digestBytes * (value?.length ?? 0) }
    }
  }
}

async function writableProjects(
  { database, limits }: PayloadDependencies,
  principal: Principal,
  { names, make }: LookupFor<"projects">,
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
  { names, make }: LookupFor<"owners">,
): Promise<AnswerTo<"owners">> {
  checkProjectCount(names.length, limits.request_projects)
  const answers = new Map<string, ProjectAnswer>()
  for (const name of names) {
    try {
      const project = await (make ? ensureProject : projectIfThere)(database, principal, name)
      answers.set(name, { id: project?.id ?? null })
    } catch (error) {
      if (!isRefusal(error)) throw error
      answers.set(name, { code: error.code, message: error.message })
    }
  }
  return answers
}

async function findRefProjects(
  { database }: PayloadDependencies,
  principal: Principal,
  { names, ids }: LookupFor<"refs">,
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
