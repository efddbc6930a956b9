/** Scorers that are functions of this server: no model is asked. */
import { codePoints } from "../../json/code-points.ts"
import { isSameJson } from "../../json/exact-json.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import { matchPattern } from "../../storage/traces/query/pattern-match.ts"
import type { FunctionScorer } from "../../wire/evaluations/scoring-rule.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import { exactIn, fieldPath, jsonIn, textOf, valueIn } from "./field-value.ts"
import { heldAgainst } from "./schema-verdicts.ts"

/** JSON text of what the scorer gave, or why it cannot say. */
export type FunctionScore = { output: string } | { failure: string }

type Dependencies = Pick<ExecutionDependencies, "traces" | "threads" | "limits">

const usualField = "output"
/** Of texts that one statement is given. */
const mostMatchedCharacters = 4 * 1024 ** 2

/** A score for each row, in order. A field that a call does not have holds no word, matches no pattern and equals null alone. */
export async function scoreByFunction(
  dependencies: Dependencies,
  scorer: FunctionScorer,
  rows: readonly CallRow[],
): Promise<FunctionScore[]> {
  const field = scorer.field ?? usualField
  const path = fieldPath(field)
  if (scorer.kind === "value") {
    return rows.map((row) => {
      const output = jsonIn(row, path)
      return output === undefined ? missing(field) : { output }
    })
  }
  if (scorer.kind === "equals") {
    return rows.map((row) => verdict(isSameJson(exactIn(row, path) ?? null, scorer.value)))
  }
  const values = rows.map((row) => valueIn(row, path))
  switch (scorer.kind) {
    case "contains":
      return values.map((value) => verdict(value !== undefined && hasWord(scorer, textOf(value))))
    case "regex":
      return (await matches(dependencies, scorer.pattern, values)).map(verdict)
    case "json_schema":
      return (await heldAgainst(dependencies, scorer.schema, values)).map((one) =>
        "failure" in one ? one : verdict(one.fits),
      )
    case "length":
      return values.map((value) => (value === undefined ? missing(field) : lengthScore(scorer, value)))
  }
}

function verdict(value: boolean): FunctionScore {
  return { output: String(value) }
}

function missing(field: string): FunctionScore {
  return { failure: `the call has no ${field}` }
}

type Of<Kind extends FunctionScorer["kind"]> = Extract<FunctionScorer, { kind: Kind }>

function hasWord({ words, ignore_case }: Of<"contains">, text: string): boolean {
  const fold = (one: string) => (ignore_case === true ? one.toLowerCase() : one)
  const folded = fold(text)
  return [words].flat().some((word) => folded.includes(fold(word)))
}

/** Characters of a text, elements of a list; within bounds, whether it is. */
function lengthScore({ min, max }: Of<"length">, value: unknown): FunctionScore {
  const length = Array.isArray(value) ? value.length : codePoints(textOf(value))
  if (min == null && max == null) return { output: String(length) }
  return verdict(length >= (min ?? 0) && length <= (max ?? Number.POSITIVE_INFINITY))
}

async function matches({ traces }: Dependencies, pattern: string, values: readonly unknown[]): Promise<boolean[]> {
  const found: boolean[] = []
  let texts: string[] = []
  let characters = 0
  const flush = async () => {
    if (texts.length > 0) found.push(...(await matchPattern(traces, pattern, texts)))
    texts = []
    characters = 0
  }
  for (const value of values) {
    if (value === undefined) {
      await flush()
      found.push(false)
      continue
    }
    const text = textOf(value)
    texts.push(text)
    characters += text.length
    if (characters > mostMatchedCharacters) await flush()
  }
  await flush()
  return found
}
