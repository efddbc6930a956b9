/** The row of a dataset as a person writes it. */
import { isJsonObject } from "../json/parsed-json.ts"

/** What keeps the text from being a row; null: nothing. `example`: a row of the kind that is asked for. */
export function rowProblem(text: string, example: string): string | null {
  try {
    const row: unknown = JSON.parse(text)
    return isJsonObject(row) ? null : `A row is an object: ${example}.`
  } catch (error) {
    return `This is no JSON: ${(error as Error).message}.`
  }
}
