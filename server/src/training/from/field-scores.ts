/** From the texts of a row's fields to its score, or to why it has none. */
import { mostReward } from "../../wire/training/reward-value.ts"
import type { DropCause } from "../../wire/training/train-from.ts"
import type { RowExtra } from "./map-rows-task.ts"
import type { FieldPlace, PlannedScore } from "./row-plan.ts"

/** A row that is left out. */
export class Drop extends Error {
  readonly dropCause: DropCause

  constructor(cause: DropCause, detail: string) {
    super(detail)
    this.dropCause = cause
  }
}

/** null: it has none. @throws {Drop} where people differ about it. */
export function extraText(extra: RowExtra | null, { at, name }: { at: string; name: string }): string | null {
  if (extra?.disputed.includes(at) === true) {
    throw new Drop("disputed", `its annotators differ about ${name}, and nobody has decided`)
  }
  return extra !== null && Object.hasOwn(extra.fields, at) ? (extra.fields[at] ?? null) : null
}

/** `absent`: of {@link RowExtra}. @throws {Drop} where a part has no value, or the sum is no reward. */
export function weighedSum(
  parts: readonly PlannedScore[],
  textOf: (place: FieldPlace) => string | null,
  absent: Readonly<Record<string, string>>,
): number {
  const sum = parts.reduce((total, part) => total + part.weight * partOf(part, textOf(part.place), absent), 0)
  if (Math.abs(sum) <= mostReward) return sum
  throw new Drop("no_score", `the weighed sum is ${sum}, and a score is between ${-mostReward} and ${mostReward}`)
}

function partOf(
  { place, values, missing }: PlannedScore,
  text: string | null,
  absent: Readonly<Record<string, string>>,
): number {
  if (text === null) {
    if (missing !== null) return missing
    const why = Object.hasOwn(absent, place.name) ? `: ${absent[place.name]}` : ""
    throw new Drop("no_score", `${place.name} has no value${why}`)
  }
  if (Object.hasOwn(values, text)) return values[text] as number
  if (text === "true" || text === "false") return Number(text === "true")
  const number = text.trim() === "" ? Number.NaN : Number(text)
  if (Number.isFinite(number)) return number
  throw new Drop(
    "no_score",
    `${place.name} is ${JSON.stringify(text.slice(0, 60))}, which is no number; say in values what it counts`,
  )
}
