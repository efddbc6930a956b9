/** The fields of evaluation results that a filter or a sort may name: evaluation-store-objects 7. */
import { HeddleError } from "../../../errors.ts"
import { either } from "../calls/fields/call-ref-field.ts"
import { hasOddJson } from "../calls/calls-tables.ts"
import { jsonValue } from "../query/json-value.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"
import { type SqlValue, splitPath, textValue } from "../query/sql-value.ts"

export const scoresHead = "scores"

/** Over the columns `row_digest`, `inputs`, `output`, `odd_json` and `dataset_row` of trials. @throws {HeddleError} 400. */
export function resultField(path: string, parameters: SqlParameters): SqlValue {
  const [head = "", ...rest] = splitPath(path)
  const output = (...at: string[]) => jsonValue("output", at, parameters, hasOddJson)
  if (path === "row_digest") return textValue("row_digest")
  if (head === scoresHead && rest.length > 0) return output("scores", ...rest)
  if (head === "inputs" && rest.length > 0) {
    const inline = jsonValue("inputs", ["example", ...rest], parameters, hasOddJson)
    return either(jsonValue("dataset_row", rest, parameters), inline)
  }
  // Python names it `output`, npm `model_output`; the reference counts the path from one level higher.
  if (head === "outputs" || head === "output") {
    const ofModel = either(output("output", ...rest), output("model_output", ...rest))
    return rest.length === 0 ? ofModel : either(ofModel, output(...rest))
  }
  const known = "scores.<scorer>, inputs.<path>, outputs.<path> or row_digest"
  throw new HeddleError("invalid_request", `Unsupported eval results field: "${path}"; name ${known}`)
}

/** Whether the rows of datasets must be looked up for it. */
export function needsDatasetRows(path: string): boolean {
  return path.startsWith("inputs.")
}
