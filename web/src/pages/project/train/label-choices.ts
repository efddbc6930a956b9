/** What the questions of a queue can be learnt from: answers that have a number choose rows, written answers correct them. */
import type { FoundField } from "../../../calls/found-fields.ts"
import type { LabelField } from "../../../labelling/label-fields.ts"
import type { TrainSearch } from "./train-search.ts"

const labelPath = ({ name }: LabelField) => `label.${name}`

/** Words that a label may be, of which somebody must say what they count. */
function wordsOf({ kind, options }: LabelField): string[] {
  return kind === "choice" ? options.flatMap(({ value }) => (typeof value === "string" ? [value] : [])) : []
}

/** Yes and no count 1 and 0 as they are, and what is to be learnt is a yes. */
const isYesNo = ({ options }: LabelField) =>
  options.length > 0 && options.every(({ value }) => typeof value === "boolean")

/** As other fields are that were found in samples: a question says what may be answered. */
export function askedField(field: LabelField): FoundField {
  const words = wordsOf(field)
  return {
    path: labelPath(field),
    isScored: field.kind === "choice" || field.kind === "number",
    isText: field.kind === "text",
    words,
    isOfOnes: isYesNo(field) || words.length > 0,
  }
}

/** How to begin with a queue's labels: where one question is answered by yes or no, its yes; and what was written. */
export function firstChoice(fields: readonly LabelField[]): Partial<TrainSearch> {
  const [only, ...others] = fields.filter(isYesNo)
  const corrections = fields.filter(({ kind }) => kind === "text").map(labelPath)
  return {
    ...(only === undefined || others.length > 0 ? {} : { score: [labelPath(only)], min: 1 }),
    ...(corrections.length === 0 ? {} : { fix: corrections }),
  }
}

/** A part of a score as it is written: `label.tone*0.5`. */
const partOf = (item: string) => (item.includes("*") ? item.slice(0, item.lastIndexOf("*")) : item).trim()

export function isInScore({ score = [] }: TrainSearch, { path }: Pick<FoundField, "path">): boolean {
  return score.some((item) => partOf(item) === path)
}

/** The field is taken in, or out again; the first whose yes or chosen words count 1 keeps rows from 1 on. */
export function toggledScore(search: TrainSearch, field: Pick<FoundField, "path" | "isOfOnes">): Partial<TrainSearch> {
  const { score = [], min } = search
  const { path, isOfOnes } = field
  if (isInScore(search, field)) return { score: score.filter((item) => partOf(item) !== path) }
  return { score: [...score, path], ...(min === undefined && score.length === 0 && isOfOnes ? { min: 1 } : {}) }
}

/** The words count 1 where they are chosen, and 0 elsewhere. */
export function toggledWord(search: TrainSearch, words: readonly string[], word: string): string[] {
  const good = new Set(goodWords(search))
  if (!good.delete(word)) good.add(word)
  const others = (search.values ?? []).filter((item) => !words.includes(item.slice(0, item.lastIndexOf("=")).trim()))
  return [...others, ...words.map((one) => `${one}=${good.has(one) ? 1 : 0}`)]
}

export function goodWords({ values = [] }: TrainSearch): string[] {
  return values.flatMap((item) => {
    const at = item.lastIndexOf("=")
    return Number(item.slice(at + 1)) > 0 ? [item.slice(0, at).trim()] : []
  })
}
