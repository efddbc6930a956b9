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
import { sharedMeanings } from "./meanings/shared-meanings.ts"
import { trainingMeanings } from "./meanings/training-meanings.ts"
import type { Meanings } from "./meanings/meanings.ts"

export const meanings: readonly Meanings[] = [
  sharedMeanings,
  trainingMeanings,
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

/** Of the names of one part of the API none may be another's: which one counts would be the order of a list. */
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

/** Where a field stands: for what requests or answers hold, and in which schema or part of one, as `EvalResults.rows`. */
export interface FieldPlace {
  side: "input" | "output"
  /** null: in a schema without a name. */
  within: string | null
}

export function meaningOf(name: string, { side, within }: FieldPlace): string | undefined {
  return bySchema.get(`${within}.${name}`) ?? bySide[side].get(name) ?? everywhere.get(name)
}
