/** What a chart says of values that no line can show. */
import type { RunMetrics } from "../../../../api/runs/runs.ts"
import { formatCount } from "../../../../format/numbers.ts"

export type NotFinite = RunMetrics["not_finite"][number]

/** Steps that the sentence names; the whole list, as far as it was read, stands in its title. */
const mostNamed = 4

/** "12 not drawn: NaN at step 3, 20, 37, 54 and 8 more until 190". */
export function notDrawnWords({ count, step, value, last }: NotFinite): string {
  const named = groupsOf(step.slice(0, mostNamed), value)
  const left = count - Math.min(step.length, mostNamed)
  if (left === 0) return `${formatCount(count)} not drawn: ${named}`
  const end =
    last.value === value[Math.min(step.length, mostNamed) - 1] ? `${last.step}` : `${last.value} at ${last.step}`
  return `${formatCount(count)} not drawn: ${named} and ${formatCount(left)} more until ${end}`
}

/** Every step that was read. */
export function notDrawnTitle({ count, step, value, last }: NotFinite): string {
  const more = count > step.length ? `, and ${formatCount(count - step.length)} more until step ${last.step}` : ""
  return groupsOf(step, value) + more
}

/** "NaN at step 3, 20, Infinity at 37". */
function groupsOf(steps: readonly number[], values: NotFinite["value"]): string {
  return steps
    .map((step, index) => {
      if (index > 0 && values[index] === values[index - 1]) return `${step}`
      return `${values[index] ?? ""} at ${index === 0 ? "step " : ""}${step}`
    })
    .join(", ")
}
