/** Destination of a file's rows. */
import type { ProjectAccess } from "../../access/project-access.ts"
import { RowError } from "./imported-row.ts"

export interface ImportTarget {
  project: ProjectAccess
  /** `entity/project` whose refs become refs into `project`; null: refs stay as they are. */
  movedFrom: string | null
  /** Keeps the authors that the file names, instead of the importing user. */
  keepUsers: boolean
}

/**
 * The object with its refs moved and with the project that it goes to, whatever project it says: of
 * equal keys the last one counts.
 * @throws {RowError}
 */
export function inProject(text: string, { project, movedFrom }: Pick<ImportTarget, "project" | "movedFrom">): string {
  if (!text.startsWith("{") || !text.endsWith("}")) throw new RowError("is not a JSON object")
  const separator = /^\{\s*\}$/.test(text) ? "" : ","
  return `${moveRefs(text, project, movedFrom).slice(0, -1)}${separator}"project_id":${JSON.stringify(project.name)}}`
}

export function moveRefs(text: string, project: ProjectAccess, movedFrom: string | null): string {
  // A function: `$` in a text would mean something.
  return movedFrom === null ? text : text.replaceAll(`weave:///${movedFrom}/`, () => `weave:///${project.name}/`)
}
