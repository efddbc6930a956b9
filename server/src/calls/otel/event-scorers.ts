/** Scorer objects for scores that arrive as OpenTelemetry events: feedback with a score must name a scorer. */
import { formatRef } from "../../objects/refs/refs.ts"
import type { Principal } from "../../http/principal.ts"
import { findVersion } from "../../storage/catalog/objects/object-reads.ts"
import type { CallDependencies } from "../dependencies.ts"
import { publishValue } from "../../objects/object-create.ts"
import type { SpanOwner } from "./otlp/otlp-input.ts"

const longestName = 128

/** Replaces every character that an object's name may not have with a hyphen. */
export function scorerName(evaluation: string): string {
  const name = evaluation.replaceAll(/[^\p{L}\p{N}_.-]+/gu, "-")
  return Array.from(name).slice(0, longestName).join("")
}

/** Returns the ref of the project's object of this name, and publishes one if there is none. */
export async function scorerRef(
  dependencies: CallDependencies,
  principal: Principal,
  project: SpanOwner,
  name: string,
): Promise<string> {
  const version = { objectId: name, version: "latest", kind: "object" } as const
  const found = await findVersion(dependencies.database, project.id, version, false)
  // An object that exists is not published again: an older version could become the latest one.
  const live = found !== null && found.deleted_at === null ? found : null
  const digest = live?.digest ?? (await publishScorer(dependencies, principal, project, name))
  return formatRef(project.name, "object", name, digest)
}

async function publishScorer(
  dependencies: CallDependencies,
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
