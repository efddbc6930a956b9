/** The rows that trials are about, refs to rows of datasets resolved on demand: evaluation-store-objects 7. */
import { isRefusal } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { memberText } from "../../json/json-members.ts"
import { datasetRowStep } from "../../storage/traces/evaluations/trials.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { readRefs } from "../../objects/refs/ref-values.ts"
import { type Ref, tryParseRef } from "../../objects/refs/refs.ts"

/** JSON text of the row of a trial: what was given inline, or a ref. */
export function rowDataOf({ inputs }: CallRow): string {
  return memberText(inputs ?? "null", "example") ?? "null"
}

/** Resolves the texts of {@link rowDataOf}. A ref that leads nowhere stays, with a warning. */
export async function resolveRows(
  dependencies: CallDependencies,
  principal: Principal,
  texts: readonly string[],
): Promise<{ values: Map<string, string>; warnings: string[] }> {
  const refs = [...new Set(texts)].flatMap((text) => {
    const ref = datasetRowRef(text)
    return ref === null ? [] : [{ text, ref }]
  })
  const values = new Map<string, string>()
  const warnings: string[] = []
  // One dataset that is gone must not keep the rows of others.
  for (const [dataset, ofDataset] of Map.groupBy(refs, ({ ref }) => `${ref.project}/${ref.name}:${ref.version}`)) {
    try {
      const found = await readRefs(
        dependencies,
        principal,
        ofDataset.map(({ ref }) => ref),
      )
      found.forEach((value, index) => {
        const text = ofDataset[index]?.text
        if (value !== null && text !== undefined) values.set(text, value)
      })
      const missing = found.filter((value) => value === null).length
      if (missing > 0) warnings.push(`${missing} rows of the dataset ${dataset} were not found; raw_data_row has refs`)
    } catch (error) {
      if (!isRefusal(error)) throw error
      warnings.push(`the rows of the dataset ${dataset} cannot be read (${error.message}); raw_data_row has refs`)
    }
  }
  return { values, warnings }
}

function datasetRowRef(text: string): Ref | null {
  return text.startsWith('"') && text.includes(datasetRowStep) ? tryParseRef(JSON.parse(text) as string) : null
}
