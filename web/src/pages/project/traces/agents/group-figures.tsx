/** Figures of a group of spans, in the rows of agents and of conversations. */
import type { SpanGroup } from "../../../../api/agents/span-groups.ts"
import type { Column } from "../../../../components/data-table/columns.ts"
import { Count } from "../../../../components/signs/figures.tsx"
import { formatDuration } from "../../../../format/durations.ts"
import { formatMoney } from "../../../../format/money.ts"
import { Tokens } from "../call-columns.tsx"
import styles from "./group-figures.module.css"
import { latencyOf } from "./group-list.ts"

/** None is a figure too, and not one to look at. */
export function Amount({ of }: { of: number }) {
  return (
    <span className={of === 0 ? styles.none : undefined}>
      <Count of={of} />
    </span>
  )
}

export function Failures({ count }: { count: number }) {
  return (
    <span className={count === 0 ? styles.none : styles.failed}>
      <Count of={count} />
    </span>
  )
}

export const tokensColumn: Column<SpanGroup> = {
  id: "tokens",
  title: "Tokens",
  width: 76,
  isNumber: true,
  cell: ({ total_input_tokens: input, total_output_tokens: output }) => <Tokens of={{ input, output }} />,
}

/** The API's sort field of each of {@link latencyColumns}. */
export const latencySorts = { p50: "p50_ms", p95: "p95_ms" }

/** How long what the title names takes. */
export function latencyColumns(title: string, width: number): Column<SpanGroup>[] {
  return (["p50", "p95"] as const).map((percentile) => ({
    id: percentile,
    title,
    unit: percentile,
    width,
    isNumber: true,
    isSortable: true,
    cell: (group) => {
      const duration = latencyOf(group, percentile)
      return duration === null ? "" : formatDuration(duration)
    },
  }))
}

export const costColumn: Column<SpanGroup> = {
  id: "cost",
  title: "Cost",
  width: 84,
  isNumber: true,
  isSortable: true,
  cell: ({ total_cost_usd: cost }) => (
    <span className={cost === null ? styles.none : undefined}>{formatMoney(cost)}</span>
  ),
}
