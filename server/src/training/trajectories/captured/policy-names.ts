/** Which names of captured calls mean the model that a job trains: art-0.5.23 4.1. */
import { parseModelName } from "../../../gateway/model-name.ts"
import type { ModelRecord } from "../../../storage/catalog/training/models.ts"

type Named = Pick<ModelRecord, "entity" | "project" | "name">

/** Any step of it counts: what was sampled from an older one carries its own log-probabilities. */
export function policyNames(names: readonly string[], { entity, project, name }: Named): string[] {
  return names.filter((text) => {
    const parsed = parseModelName(text, { entity, project })
    return (
      parsed.kind === "checkpoint" && parsed.entity === entity && parsed.project === project && parsed.name === name
    )
  })
}
