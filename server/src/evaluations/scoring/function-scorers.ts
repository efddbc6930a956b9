/** Scorers that are functions of this server: no model is asked. */
import { isDeepStrictEqual } from "node:util"
import { codePoints } from "../../json/code-points.ts"
import { findValueFault } from "../../objects/schemas/user-schemas.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import { matchPattern } from "../../storage/traces/query/pattern-match.ts"
import type { FunctionScorer } from "../../wire/evaluations/scoring-rule.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import { fieldPath, textOf, valueIn } from "./field-value.ts"

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
  const values = rows.map((row) => valueIn(row, path))
  switch (scorer.kind) {
    case "contains":
      return values.map((value) => verdict(value !== undefined && hasWord(scorer, textOf(value))))
    case "equals":
      return values.map((value) => verdict(isDeepStrictEqual(value ?? null, scorer.value)))
    case "regex":
      return (await matches(dependencies, scorer.pattern, values)).map(verdict)
    case "json_schema":
      return (await satisfying(dependencies, scorer.schema, values)).map(verdict)
    case "length":
      return values.map((value) => (value === undefined ? missing(field) : lengthScore(scorer, value)))
    case "value":
      return values.map((value) => (value === undefined ? missing(field) : { output: JSON.stringify(value) }))
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

/** A text is taken for the JSON that it holds, as answers of models are, unless the schema asks for a text. */
async function satisfying(
  dependencies: Dependencies,
  schema: Of<"json_schema">["schema"],
  values: readonly unknown[],
): Promise<boolean[]> {
  const response = { schema: JSON.stringify(schema), name: "the schema of the rule" }
  const texts = values.map((value) => jsonOf(value, schema["type"] === "string"))
  const found = texts.map((text) => text !== null)
  const places = texts.flatMap((text, place) => (text === null ? [] : [{ text, place }]))
  for (let from = 0; from < places.length;) {
    const some = places.slice(from).map(({ text }) => text)
    const fault = await findValueFault(dependencies, response, some)
    if (fault === null) break
    found[places[from + fault.index]?.place ?? 0] = false
    from += fault.index + 1
  }
  return found
}

/** null: there is none. */
function jsonOf(value: unknown, isText: boolean): string | null {
  if (value === undefined) return null
  if (typeof value !== "string" || isText) return JSON.stringify(value)
  try {
    JSON.parse(value)
    return value
  } catch {
    return null
  }
}
