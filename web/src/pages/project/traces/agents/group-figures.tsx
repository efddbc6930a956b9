/** Figures of a group of spans, in the rows of agents and of conversations. */
import type { SpanGroup } from "../../../../api/agents/span-groups.ts"
import type { Column } from "../../../../components/data-table/columns.ts"
import { Count } from "../../../../components/signs/figures.tsx"
import { formatMoney } from "../../../../format/money.ts"
import { Tokens } from "../call-columns.tsx"
import styles from "./group-figures.module.css"

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
