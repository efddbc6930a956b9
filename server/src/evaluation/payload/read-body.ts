/** Reading a body whose payloads stay text, on another thread when it is large. */
import type { RouteContext } from "../../http/route.ts"
import { asksNothing } from "../../threads/thread-task.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { projectIfThere } from "../../access/project-access.ts"
import type { BodyTask } from "./body-task.ts"

/** Who may not write to the project is refused before the body is looked at. @throws {HeddleError} 403, and what the task throws. */
export async function readForProject<T>(
  { database, threads }: Pick<EvaluationDependencies, "database" | "threads">,
  project: string,
  task: BodyTask<T>,
  { body, principal }: Pick<RouteContext, "principal"> & { body: Buffer },
): Promise<T> {
  await projectIfThere(database, principal, project)
  return (await threads.run(task, { bytes: body }, { bytes: body.length, answer: asksNothing })).read
}
