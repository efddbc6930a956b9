/** Reading a body whose payloads stay text, on another thread when it is large. */
import type { RouteContext } from "../../http/route.ts"
import { noLookups } from "../../threads/thread-task.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { projectIfThere } from "../../access/project-access.ts"
import type { BodyTask } from "./body-task.ts"

/** Refuses callers without write access before it reads the body. @throws {HeddleError} 403, and errors of the task. */
export async function readForProject<T>(
  { database, threads }: Pick<StoreDependencies, "database" | "threads">,
  project: string,
  task: BodyTask<T>,
  { body, principal }: Pick<RouteContext, "principal"> & { body: Buffer },
): Promise<T> {
  await projectIfThere(database, principal, project)
  return (await threads.run(task, { bytes: body }, { bytes: body.length, answer: noLookups })).read
}
