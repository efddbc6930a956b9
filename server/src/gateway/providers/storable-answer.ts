import { JsonTextError, maximumJsonDepth } from "../../json/json-text-error.ts"
import { JsonScanner } from "../../json/json-scanner.ts"
import { ModelFailure } from "./model-failure.ts"

/** Nesting levels that the surrounding call or feedback adds to a stored answer. */
const levelsAround = 16

/** `text`: valid JSON. @throws {ModelFailure} when it could not be stored: the caller is not at fault for what the model did. */
export function requireStorable(text: string): void {
  try {
    new JsonScanner(Buffer.from(text), maximumJsonDepth - levelsAround).skip()
  } catch (error) {
    if (error instanceof JsonTextError) throw new ModelFailure(`the model's answer cannot be stored: ${error.message}`)
    throw error
  }
}
