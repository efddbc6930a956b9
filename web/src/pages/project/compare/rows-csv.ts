/** The compared rows as a table for other programs: numbers in full, with a point, in the order in which they are shown. */
import type { PairedRow } from "../../../evaluations/comparison.ts"
import type { Metric } from "../../../evaluations/metrics.ts"
import { rowValue } from "../../../evaluations/run-rows.ts"

export function rowsCsv(rows: readonly PairedRow[], metrics: readonly Metric[]): string {
  const heads = ["row_digest", ...metrics.flatMap(({ name }) => [`${name} baseline`, `${name} candidate`])]
  const lines = rows.map(({ digest, baseline, candidate }) => [
    digest,
    ...metrics.flatMap(({ id }) => [rowValue(baseline, id), rowValue(candidate, id)].map((value) => value ?? "")),
  ])
  return [heads, ...lines].map((line) => line.map((value) => cell(`${value}`)).join(",")).join("\r\n")
}

/** A name that begins like a formula must not be one in a spreadsheet; numbers may begin with a minus. */
function cell(text: string): string {
  const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
