/** What the calls of a project cost over time, and which model, op or person spent it. */
import { getRouteApi } from "@tanstack/react-router"
import { ApiError } from "../../../../api/api-error.ts"
import { type CallStats, useCallStats } from "../../../../api/calls/calls.ts"
import { serverUrl } from "../../../../base-path.ts"
import { printClause } from "../../../../calls/filter/filter-text.ts"
import { ChartLegend, LineChart, type Series } from "../../../../components/charts/line-chart.tsx"
import { Segmented } from "../../../../components/controls/segmented.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Count } from "../../../../components/signs/figures.tsx"
import { Meter } from "../../../../components/signs/meter.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { Note } from "../../../../components/states/note.tsx"
import { Code } from "../../../../components/text/code.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { formatMoney } from "../../../../format/money.ts"
import { formatCount, formatShare } from "../../../../format/numbers.ts"
import { useProjectOfPage } from "../../../../shell/current-project.ts"
import { shellWord } from "../../../../url/project-path.ts"
import { type WindowName, windows } from "../../time-window.ts"
import { SectionHead } from "../section-head.tsx"
import {
  type CostFigures,
  type CostGroup,
  costMetrics,
  costRows,
  type CostRow,
  costsOverTime,
  costTotals,
  filterOfModel,
} from "./cost-rows.ts"
import styles from "./costs.module.css"
import { Figure, FigureStrip } from "./figure-strip.tsx"
import { useUsageNames } from "./use-usage-names.ts"

const route = getRouteApi("/signed-in/$entity/$project/settings/$section")

const groups = {
  model: { group: "model", name: "Model" },
  op: { group: "trace_op", name: "Op" },
  user: { group: "wb_user_id", name: "Person" },
} as const satisfies Record<string, { group: CostGroup; name: string }>

const hour = { seconds: 3600, name: "an hour" }
const day = { seconds: 24 * 3600, name: "a day" }
const widths = { "24h": hour, "7d": day, "30d": day }

/** Sums over many calls are seconds of work for the server: an answer is good for a while. */
const freshMs = 5 * 60_000
/** With more calls, the range before is not read for a comparison: sums over so many take seconds. */
const fewCalls = 100_000
const chartHeight = 160
const fromZero = [0, null] as const
const colors = ["series-1", "series-2", "series-3", "series-4", "series-5"] as const

const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z")

interface CostsProps {
  since: WindowName
  /** Unix seconds. */
  start: number
}

export function Costs({ since, start }: CostsProps) {
  const { id } = useProjectOfPage()
  const { costs: by = "model" } = route.useSearch()
  const navigate = route.useNavigate()
  const { group, name } = groups[by]
  const { name: rangeName, seconds } = windows[since]
  const live = { staleTime: freshMs }
  const asked = { project_id: id, usage_metrics: costMetrics, usage_group_by: group }
  const stats = useCallStats({ ...asked, start: isoOf(start), granularity: widths[since].seconds }, live)
  // Figures of another range, or by another name, would be read as these.
  const known = stats.isPlaceholderData ? undefined : stats.data
  const isUnknown = stats.error instanceof ApiError && stats.error.isNotFound
  const before = useCallStats(
    {
      ...asked,
      start: isoOf(start - seconds),
      end: isoOf(start),
      granularity: seconds,
      usage_metrics: [{ metric: "total_cost" }],
    },
    {
      ...live,
      enabled: known !== undefined && costTotals(known.usage_buckets).calls <= fewCalls,
    },
  )
  return (
    <section className={styles.costs}>
      <SectionHead
        isSmall
        title={`Costs by ${name.toLowerCase()}`}
        actions={
          <Segmented
            label="Costs by"
            value={by}
            segments={(["model", "op", "user"] as const).map((value) => ({ value, label: groups[value].name }))}
            onChange={(next) =>
              void navigate({ search: (old) => ({ ...old, costs: next === "model" ? undefined : next }) })
            }
          />
        }
      >
        What the calls of {id} cost, on models of this server and outside, {rangeName}: each request once, at the price
        that held when it began.{by === "op" && " The op is the one that the trace began with."}
      </SectionHead>
      {isUnknown ? (
        <NothingSpent since={since} />
      ) : (
        <Loaded query={{ ...stats, data: known }} what="costs">
          {({ usage_buckets: buckets }) => (
            <Spent
              buckets={buckets}
              by={by}
              since={since}
              start={start}
              before={before.isPlaceholderData ? null : (before.data ?? null)}
            />
          )}
        </Loaded>
      )}
    </section>
  )
}

interface SpentProps extends CostsProps {
  buckets: CallStats["usage_buckets"]
  by: keyof typeof groups
  before: CallStats | null
}

function Spent({ buckets, by, since, start, before }: SpentProps) {
  const { group, name } = groups[by]
  const rows = costRows(buckets, group)
  const totals = costTotals(buckets)
  const userName = useUsageNames("user_id")
  const nameOf = (row: string) => (by === "user" ? userName(row) : row)
  if (rows.length === 0) return <NothingSpent since={since} />
  const series = costSeries(buckets, rows, group, nameOf)
  return (
    <>
      <FigureStrip label="Totals of costs">
        <Figure name="Cost" note={before === null ? undefined : changeOf(totals.cost, before, since)}>
          {costOf(totals)}
        </Figure>
        <Figure
          name="Calls"
          note={totals.unpriced === 0 ? undefined : `${formatCount(totals.unpriced)} of them without a price`}
        >
          <Count of={totals.calls} />
        </Figure>
        <Figure name="Input tokens" note={`${formatCount(totals.cached)} of them from a cache`}>
          <Count of={totals.input} />
        </Figure>
        <Figure name="Output tokens">
          <Count of={totals.output} />
        </Figure>
      </FigureStrip>
      {by === "model" && <WithoutPrice rows={rows} start={start} />}
      {totals.cost > 0 && (
        <div className={styles.chart}>
          <div className={styles.title}>
            <h4>Cost {widths[since].name}</h4> <ChartLegend series={series} />
          </div>
          <LineChart
            label={`Cost by ${name.toLowerCase()}, ${windows[since].name}`}
            series={series}
            height={chartHeight}
            isTime
            yRange={fromZero}
            formatY={formatMoney}
          />
        </div>
      )}
      <PlainTable
        label={`Costs by ${name.toLowerCase()}`}
        heads={[
          { name, className: styles.name },
          { name: "Calls", className: styles.rarely },
          { name: "Input", className: styles.rarely },
          { name: "Cached", className: styles.rarely },
          { name: "Output", className: styles.rarely },
          { name: "Cost", className: styles.number },
          { name: "Share", className: styles.share },
        ]}
      >
        {rows.map((row) => (
          <tr key={row.name}>
            <td className={styles.name} title={nameOf(row.name)}>
              <CallsOf row={row.name} by={by} start={start}>
                {nameOf(row.name)}
              </CallsOf>
            </td>
            {([row.calls, row.input, row.cached, row.output] as const).map((count, index) => (
              <td key={index} className={styles.rarely}>
                <Count of={count} />
              </td>
            ))}
            <td className={styles.number}>{costOf(row)}</td>
            <td className={styles.share}>
              {row.unpriced < row.calls && (
                <span className={styles.meter}>
                  <Meter share={row.share} label={`Share of ${nameOf(row.name)}`} />
                  {formatShare(row.share)}
                </span>
              )}
            </td>
          </tr>
        ))}
      </PlainTable>
    </>
  )
}

/** Shown for a project without a call, too, which does not exist yet. */
function NothingSpent({ since }: { since: WindowName }) {
  const { params } = useProjectOfPage()
  return (
    <p className={styles.nothing}>
      No call of the {windows[since].name} reports tokens of a model.{" "}
      <TextLink to="/$entity/$project/traces" params={params}>
        All traces
      </TextLink>
    </p>
  )
}

/** Where some of the calls have no price, what is known of the cost is the least that it may be. */
function costOf({ cost, calls, unpriced }: CostFigures) {
  if (unpriced === 0) return formatMoney(cost)
  if (unpriced === calls) return <span className={styles.missing}>{formatMoney(null)}</span>
  return (
    <span title={`${formatCount(unpriced)} of ${formatCount(calls)} calls have no price`}>≥ {formatMoney(cost)}</span>
  )
}

function changeOf(cost: number, before: CallStats, since: WindowName): string {
  const earlier = costTotals(before.usage_buckets).cost
  const range = windows[since].name.replace("last ", "")
  if (earlier === 0) return `nothing in the ${range} before`
  const change = cost - earlier
  return `${formatMoney(Math.abs(change))} ${change < 0 ? "less" : "more"} than in the ${range} before`
}

function costSeries(
  buckets: CallStats["usage_buckets"],
  rows: readonly CostRow[],
  group: CostGroup,
  nameOf: (name: string) => string,
): Series[] {
  const names = rows.filter(({ cost }) => cost > 0).map((row) => row.name)
  // A colour for the others only where they are several.
  const shown = names.length > colors.length + 1 ? colors.length : names.length
  const series: Series[] = names.slice(0, shown).map((name, index) => ({
    name: nameOf(name),
    color: colors[index] ?? "series-6",
    ...costsOverTime(buckets, group, [name]),
  }))
  const others = names.slice(shown)
  return others.length === 0
    ? series
    : [
        ...series,
        {
          name: `${others.length} others`,
          color: "series-0",
          isDashed: true,
          ...costsOverTime(buckets, group, others),
        },
      ]
}

/** A link to the calls that a row is made of. */
function CallsOf({
  row,
  by,
  start,
  children,
}: {
  row: string
  by: keyof typeof groups
  start: number
  children: string
}) {
  const { params } = useProjectOfPage()
  const clause = (field: string) => printClause({ field, operator: "is", values: [{ text: row, isQuoted: false }] })
  const q = by === "model" ? filterOfModel(row) : clause(by)
  if (q === null) return children
  return (
    <TextLink
      isQuiet
      to="/$entity/$project/traces"
      params={params}
      search={{ q, from: isoOf(start), ...(by === "op" ? {} : { scope: "all" }) }}
    >
      {children}
    </TextLink>
  )
}

/** Which models have no price, and how they get one. */
function WithoutPrice({ rows, start }: { rows: readonly CostRow[]; start: number }) {
  const { id } = useProjectOfPage()
  const missing = rows.filter(({ unpriced }) => unpriced > 0)
  const first = missing[0]?.name
  if (first === undefined) return null
  const names = missing.map(({ name, calls, unpriced }) =>
    unpriced === calls ? name : `${name} (${formatCount(unpriced)} of ${formatCount(calls)} calls)`,
  )
  const price = {
    prompt_token_cost: 0.000001,
    completion_token_cost: 0.000002,
    effective_date: isoOf(start),
  }
  const body = JSON.stringify({ project_id: id, costs: { [first]: price } }, null, 2)
  const code = `curl ${serverUrl}/cost/create -H "Authorization: Bearer $KEY" -d ${shellWord(body)}`
  return (
    <div className={styles.note}>
      <Note title={`No price: ${names.join(", ")}.`}>
        A call costs nothing here while its model has no price. One that is given now also counts for calls that are
        stored already, from its <code>effective_date</code> on; it is of one token, in dollars.
        <details className={styles.how}>
          <summary>Give {first} a price</summary>
          <Code label={`A price for ${first}`} code={code} />
        </details>
      </Note>
    </div>
  )
}
