/** Chat on own models: requests and tokens over time, and who or what they were for. */
import { getRouteApi } from "@tanstack/react-router"
import { useUsage } from "../../../../api/organization/usage.ts"
import { useNow } from "../../../../clock/use-now.ts"
import { LineChart } from "../../../../components/charts/line-chart.tsx"
import { LinkButton } from "../../../../components/controls/button.tsx"
import { Segmented } from "../../../../components/controls/segmented.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Count } from "../../../../components/signs/figures.tsx"
import { Meter } from "../../../../components/signs/meter.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { formatCount, formatCountTick, formatShare } from "../../../../format/numbers.ts"
import { useProjectOfPage } from "../../../../shell/current-project.ts"
import { bucketStart, usageRange, windows, windowSegments } from "../../time-window.ts"
import { SectionHead } from "../section-head.tsx"
import { Costs } from "./costs.tsx"
import { Figure, FigureStrip } from "./figure-strip.tsx"
import { tokensOverTime, type UsageField, usageRows, usageTotals } from "./usage-rows.ts"
import styles from "./usage-section.module.css"
import { UsageExport } from "./usage-export.tsx"
import { useUsageNames } from "./use-usage-names.ts"

const route = getRouteApi("/signed-in/$entity/$project/settings/$section")

const fields = { model: "model", user: "user_id", key: "api_key_id", project: "project_id" } as const
const columns = { model: "Model", user: "Person", key: "Key", project: "Project" } as const satisfies Record<
  keyof typeof fields,
  string
>

const refetchMs = 30_000
const chartHeight = 160
const fromZero = [0, null] as const

export function UsageSection() {
  const { id, params } = useProjectOfPage()
  const { since = "30d", by = "model", of } = route.useSearch()
  const navigate = route.useNavigate()
  const field: UsageField = fields[by]
  const { usageWidth, name } = windows[since]
  const range = usageRange(since, useNow(60))
  const start = range.start_time
  const usage = useUsage(
    { ...range, group_by: [field], ...(of === "all" ? {} : { project_ids: [id] }) },
    { refetchInterval: refetchMs },
  )
  const nameOf = useUsageNames(field)
  return (
    <>
      <SectionHead
        title="Usage"
        actions={
          <>
            <UsageExport start={bucketStart(start, 24 * 3600)} projectId={of === "all" ? null : id} />
            <Segmented
              label="Of which projects"
              value={of ?? "one"}
              segments={[
                { value: "one", label: "This project" },
                { value: "all", label: "All of yours" },
              ]}
              onChange={(next) =>
                void navigate({ search: (before) => ({ ...before, of: next === "all" ? next : undefined }) })
              }
            />
            <Segmented
              label="Since"
              value={since}
              segments={windowSegments}
              onChange={(next) =>
                void navigate({ search: (before) => ({ ...before, since: next === "30d" ? undefined : next }) })
              }
            />
            <Segmented
              label="By"
              value={by}
              segments={(["model", "user", "key", "project"] as const).map((value) => ({
                value,
                label: columns[value],
              }))}
              onChange={(next) =>
                void navigate({ search: (before) => ({ ...before, by: next === "model" ? undefined : next }) })
              }
            />
          </>
        }
      >
        Chat and completions on models of this server, {of === "all" ? "in every project of your teams" : `in ${id}`},{" "}
        {name}. What outside models used is in the costs below.
      </SectionHead>
      <Loaded query={usage} what="usage">
        {(page) => {
          const rows = usageRows(page, field)
          const totals = usageTotals(page)
          if (rows.length === 0) {
            return (
              <Empty
                title="Nothing was asked"
                actions={
                  <LinkButton to="/$entity/$project/playground/{-$conversation}" params={params}>
                    Ask one in the playground
                  </LinkButton>
                }
              >
                No request came to a model of this server in the {name}.
              </Empty>
            )
          }
          return (
            <>
              <FigureStrip label="Totals">
                <Figure name="Requests">
                  <Count of={totals.requests} />
                </Figure>
                <Figure name="Prompt tokens" note={`${formatCount(totals.cached)} of them from the cache`}>
                  <Count of={totals.input} />
                </Figure>
                <Figure name="Answered tokens">
                  <Count of={totals.output} />
                </Figure>
              </FigureStrip>
              <div className={styles.chart}>
                <h3 className={styles.title}>Tokens {usageWidth === "1h" ? "an hour" : "a day"}</h3>
                <LineChart
                  label={`Tokens asked and answered, ${name}`}
                  series={[{ name: "tokens", color: "series-1", kind: "bars", ...tokensOverTime(page) }]}
                  height={chartHeight}
                  isTime
                  yRange={fromZero}
                  formatY={formatCount}
                  formatTick={formatCountTick}
                />
              </div>
              <PlainTable
                label={`Usage by ${columns[by].toLowerCase()}`}
                heads={[
                  { name: columns[by], className: styles.name },
                  { name: "Requests", className: styles.number },
                  { name: "Prompt", className: styles.number },
                  { name: "Cached", className: styles.rarely },
                  { name: "Answered", className: styles.number },
                  { name: "Share of tokens", className: styles.share },
                ]}
              >
                {rows.map((row) => (
                  <tr key={row.name}>
                    <td className={styles.name} title={row.name}>
                      {nameOf(row.name)}
                    </td>
                    <td className={styles.number}>
                      <Count of={row.requests} />
                    </td>
                    <td className={styles.number}>
                      <Count of={row.input} />
                    </td>
                    <td className={styles.rarely}>
                      <Count of={row.cached} />
                    </td>
                    <td className={styles.number}>
                      <Count of={row.output} />
                    </td>
                    <td className={styles.share}>
                      <span className={styles.meter}>
                        <Meter share={row.share} label={`Share of ${nameOf(row.name)}`} />
                        {formatShare(row.share)}
                      </span>
                    </td>
                  </tr>
                ))}
              </PlainTable>
            </>
          )
        }}
      </Loaded>
      <Costs since={since} start={start} />
    </>
  )
}
