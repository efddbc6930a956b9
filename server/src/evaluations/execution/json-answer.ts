/** The JSON in a model's answer: alone, in a fence, or after some words. */
import { JsonCursor } from "../../json/json-cursor.ts"
import { JsonTextError } from "../../json/json-text-error.ts"
import { ModelFailure } from "../../gateway/providers/model-failure.ts"
import { requireStorable } from "../../gateway/providers/storable-answer.ts"

const excerptCharacters = 200

/** The text of the first JSON object of `answer`. @throws {ModelFailure} when there is none; no value is made up. */
export function jsonAnswer(answer: string): string {
  for (let at = answer.indexOf("{"); at !== -1; at = answer.indexOf("{", at + 1)) {
    const found = objectAt(answer.slice(at))
    if (found === null) continue
    requireStorable(found)
    return found
  }
  throw new ModelFailure(
    `the model's answer holds no JSON object: ${JSON.stringify(answer.slice(0, excerptCharacters))}`,
  )
}

function objectAt(text: string): string | null {
  try {
    const value = new JsonCursor(text).value()
    JSON.parse(value)
    return value
  } catch (error) {
    // JSON nested that deep is not the answer.
    if (error instanceof JsonTextError && error.kind === "too_deep") throw new ModelFailure(error.message)
    if (error instanceof JsonTextError || error instanceof SyntaxError) return null
    throw error
  }
}
