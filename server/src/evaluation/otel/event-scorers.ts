/** The objects that stand for who gave the scores of events: feedback of a score must name one. */
import type { Principal } from "../../http/principal.ts"
import { findVersion } from "../../storage/catalog/object-reads.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { publishValue } from "../objects/object-create.ts"
import type { SpanOwner } from "./otlp-input.ts"

const longestName = 128

/** What the name of an object may be made of; everything else becomes a hyphen. */
export function scorerName(evaluation: string): string {
  const name = evaluation.replaceAll(/[^\p{L}\p{N}_.-]+/gu, "-")
  return Array.from(name).slice(0, longestName).join("")
}

/** The ref of the object of this name, which is published when the project has none. */
export async function scorerRef(
  dependencies: EvaluationDependencies,
  principal: Principal,
  project: SpanOwner,
  name: string,
): Promise<string> {
  const version = { objectId: name, version: "latest", kind: "object" } as const
  const found = await findVersion(dependencies.database, project.id, version, false)
  // Published anew, an older version of a scorer would become the latest one.
  const live = found !== null && found.deleted_at === null ? found : null
  const digest = live?.digest ?? (await publishScorer(dependencies, principal, project, name))
  return `weave:///${project.name}/object/${name}:${digest}`
}

async function publishScorer(
  dependencies: EvaluationDependencies,
  principal: Principal,
  project: SpanOwner,
  name: string,
): Promise<string> {
  const value = {
    _type: "Scorer",
    _class_name: "Scorer",
    _bases: ["Object", "BaseModel"],
    name,
    description: "Scores that came as OpenTelemetry events gen_ai.evaluation.result",
  }
  const object = { project_id: project.name, object_id: name }
  return (await publishValue(dependencies, principal, object, JSON.stringify(value))).digest
}
