/** What a rule scores with, in a few words. */
import type { ScoringRule } from "@heddle/server/wire/evaluations/scoring-rule.ts"

const words: Readonly<Record<string, string>> = {
  contains: "words in it",
  equals: "equality",
  regex: "a pattern",
  json_schema: "a JSON schema",
  length: "its length",
  value: "a field’s value",
  judge: "a judge",
  published: "published scorers",
}

export function scorerWords(scorer: ScoringRule["scorer"]): string {
  const model = scorer["model"]
  const word = words[scorer.kind] ?? scorer.kind
  return typeof model === "string" ? `${word}: ${model}` : word
}
