/** Costs of two calls: a line per figure, with the change if it is a number. */
import type { ReactNode } from "react"
import { type Call, useCallUsage } from "../../../api/calls/calls.ts"
import { callDuration, callName, callStatus } from "../../../calls/call-names.ts"
import { callFacts, type TokenCount, tokensOfUsage } from "../../../calls/call-summary.ts"
import { PlainTable } from "../../../components/layout/plain-table.tsx"
import { Status } from "../../../components/signs/status.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { formatFineDuration } from "../../../format/durations.ts"
import { formatMoney } from "../../../format/money.ts"
import { formatExact, formatScore, thinSpace } from "../../../format/numbers.ts"
import { formatBytes } from "../../../format/sizes.ts"
import { formatWholeTime } from "../../../format/times.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./call-comparison-page.module.css"

interface ComparedFactsProps {
  project: CurrentProject
  before: Call
  after: Call
}

export function ComparedFacts({ project, before, after }: ComparedFactsProps) {
  const usage = useCallUsage({ project_id: project.id, call_ids: [before.id, after.id], include_costs: true })
  const tokensOf = (call: Call): TokenCount | null =>
    callFacts(call.summary).tokens ?? tokensOfUsage(usage.data?.call_usage[call.id])
  const tokens = [tokensOf(before), tokensOf(after)] as const
  return (
    <PlainTable
      label="Figures of both calls"
      heads={[
        { name: "" },
        { name: "First", className: styles.first },
        { name: "Second" },
        { name: "Change", className: styles.number },
      ]}
    >
      <Fact name="Call">
        {[before, after].map((call) => (
          <TextLink
            key={call.id}
            to="/$entity/$project/traces/$trace"
            params={{ ...project.params, trace: call.trace_id }}
            search={call.parent_id === null ? {} : { span: call.id }}
          >
            {callName(call)}
          </TextLink>
        ))}
      </Fact>
      <Fact name="Status">
        {[before, after].map((call) => (
          <Status key={call.id} of={callStatus(call)} />
        ))}
      </Fact>
      <Fact name="Started">{[before, after].map((call) => formatWholeTime(new Date(call.started_at)))}</Fact>
      <NumberFact name="Duration" values={[callDuration(before), callDuration(after)]} show={formatFineDuration} />
      <NumberFact name="Tokens in" values={[tokens[0]?.input, tokens[1]?.input]} show={formatExact} />
      <NumberFact name="Tokens out" values={[tokens[0]?.output, tokens[1]?.output]} show={formatExact} />
      <NumberFact name="Cost" values={[tokens[0]?.cost, tokens[1]?.cost]} show={formatMoney} empty="no price" />
      <Fact name="Model">{tokens.map((one) => one?.models.join(", ") ?? "–")}</Fact>
      <NumberFact name="Size" values={[before.storage_size_bytes, after.storage_size_bytes]} show={formatBytes} />
    </PlainTable>
  )
}

function Fact({ name, children }: { name: string; children: readonly ReactNode[] }) {
  return (
    <tr>
      <th scope="row" className={styles.name}>
        {name}
      </th>
      <td className={styles.first}>{children[0]}</td>
      <td colSpan={2}>{children[1]}</td>
    </tr>
  )
}

interface NumberFactProps {
  name: string
  values: readonly [number | null | undefined, number | null | undefined]
  show: (value: number) => string
  empty?: string
}

function NumberFact({ name, values: [before, after], show, empty = "–" }: NumberFactProps) {
  return (
    <tr>
      <th scope="row" className={styles.name}>
        {name}
      </th>
      <td className={styles.first}>{before == null ? empty : show(before)}</td>
      <td>{after == null ? empty : show(after)}</td>
      <td className={styles.number}>{before == null || after == null ? "" : changeText(before, after, show)}</td>
    </tr>
  )
}

/** With its sign, and how much of the first it is. */
function changeText(before: number, after: number, show: (value: number) => string): string {
  if (before === after) return "±0"
  const sign = after > before ? "+" : "−"
  const share =
    before === 0 ? "" : ` (${sign}${formatScore((Math.abs(after - before) / before) * 100, 1)}${thinSpace}%)`
  return `${sign}${show(Math.abs(after - before))}${share}`
}
