/** The columns of a dataset and what each of them holds, found by reading all of it once. */
import { HeddleError } from "../../errors.ts"
import { stringOf } from "../../json/json-cursor.ts"
import { membersOf } from "../../json/json-members.ts"

/** `json`: anything, or values of several kinds. */
export type DatasetKind = "text" | "integer" | "number" | "boolean" | "json"

/** In the order in which the rows name them first. */
export type DatasetColumns = ReadonlyMap<string, DatasetKind>

/** @throws {HeddleError} 400 more than `most` columns: every row has a cell in each of them, whatever it holds. */
export async function datasetColumns(batches: AsyncIterable<readonly string[]>, most: number): Promise<DatasetColumns> {
  const columns = new Map<string, DatasetKind>()
  for await (const rows of batches) {
    for (const row of rows) {
      for (const [name, text] of membersOf(row)) columns.set(name, merged(columns.get(name), kindOf(text)))
    }
    if (columns.size > most) throw tooManyColumns(most)
  }
  return columns
}

function tooManyColumns(most: number): HeddleError {
  return new HeddleError("invalid_request", `the rows have more than ${most} columns; export them as JSON Lines`)
}

function merged(known: DatasetKind | undefined, kind: DatasetKind): DatasetKind {
  if (known === undefined || known === kind) return kind
  const areNumbers = [known, kind].every((one) => one === "integer" || one === "number")
  return areNumbers ? "number" : "json"
}

/** A number that a double, printed again, would not give back is JSON. */
function kindOf(json: string): DatasetKind {
  if (json.startsWith('"')) return stringOf(json).isWellFormed() ? "text" : "json"
  if (json === "true" || json === "false") return "boolean"
  const number = Number(json)
  if (JSON.stringify(number) !== json || json === "null") return "json"
  return Number.isSafeInteger(number) ? "integer" : "number"
}
