/**
 * What fields mean. A name that means the same wherever it stands, in every request or in every answer, is described once
 * in `meanings/`; where it means something else, it stands with its schema. Names that say it all (`id`, `description`) are
 * left out.
 */
import { agentMeanings } from "./meanings/agent-meanings.ts"
import { agentSpanMeanings } from "./meanings/agent-span-meanings.ts"
import { callMeanings } from "./meanings/call-meanings.ts"
import { evaluationMeanings } from "./meanings/evaluation-meanings.ts"
import { feedbackMeanings } from "./meanings/feedback-meanings.ts"
import { fileMeanings } from "./meanings/file-meanings.ts"
import { inferenceMeanings } from "./meanings/inference-meanings.ts"
import { labellingMeanings } from "./meanings/labelling-meanings.ts"
import { objectMeanings } from "./meanings/object-meanings.ts"
import { platformMeanings } from "./meanings/platform-meanings.ts"
import { rolloutMeanings } from "./meanings/rollout-meanings.ts"
import { sharedMeanings } from "./meanings/shared-meanings.ts"
import { trainingMeanings } from "./meanings/training-meanings.ts"
import type { Meanings } from "./meanings/meanings.ts"

export const meanings: readonly Meanings[] = [
  sharedMeanings,
  trainingMeanings,
  rolloutMeanings,
  inferenceMeanings,
  callMeanings,
  feedbackMeanings,
  agentMeanings,
  agentSpanMeanings,
  objectMeanings,
  evaluationMeanings,
  labellingMeanings,
  fileMeanings,
  platformMeanings,
]

/** Two parts of the API may not describe the same name, as list order would then pick the winner. */
function merged(maps: readonly (Readonly<Record<string, string>> | undefined)[]): ReadonlyMap<string, string> {
  const entries = maps.flatMap((map) => Object.entries(map ?? {}))
  const all = new Map(entries)
  const twice = entries.filter(([name, meaning]) => all.get(name) !== meaning).map(([name]) => name)
  if (twice.length > 0) throw new Error(`described in two ways: ${twice.join(", ")}`)
  return all
}

const everywhere = merged(meanings.map((part) => part.everywhere))
const bySide = {
  input: merged(meanings.map(({ requests }) => requests)),
  output: merged(meanings.map(({ answers }) => answers)),
}
/** By `Schema.field`. */
const bySchema = merged(meanings.map(({ schemas = {} }) => fieldsOf(schemas)))

function fieldsOf(schemas: NonNullable<Meanings["schemas"]>): Record<string, string> {
  const fields = Object.entries(schemas).flatMap(([names, fieldMeanings]) =>
    names
      .split(", ")
      .flatMap((schema) =>
        Object.entries(fieldMeanings).map(([name, meaning]) => [`${schema}.${name}`, meaning] as const),
      ),
  )
  return Object.fromEntries(fields)
}

/** Position of a field: in requests or answers, and in which schema or part of one, as `EvalResults.rows`. */
export interface FieldPlace {
  side: "input" | "output"
  /** null: in a schema without a name. */
  within: string | null
}

export function meaningOf(name: string, { side, within }: FieldPlace): string | undefined {
  return bySchema.get(`${within}.${name}`) ?? bySide[side].get(name) ?? everywhere.get(name)
}
