/** Calls, latency, tokens and chat over the range: four small charts with one shared cursor. */
import type { ReactNode } from "react"
import { LineChart, type Series } from "../../../components/charts/line-chart.tsx"
import { PaneHead } from "../../../components/layout/pane.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { SkeletonBlock } from "../../../components/states/skeleton.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { counted } from "../../../format/counted.ts"
import { formatDuration, formatDurationTick } from "../../../format/durations.ts"
import { formatCount, formatCountTick } from "../../../format/numbers.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { type WindowName, windows } from "../time-window.ts"
import styles from "./traffic.module.css"
import { sum, useProjectUsage } from "./use-loop-figures.ts"
import { useTrafficStats } from "./use-traffic-stats.ts"

const height = 112
const sync = "overview"
const fromZero = [0, null] as const

interface TrafficProps {
  project: CurrentProject
  since: WindowName
}

export function Traffic({ project, since }: TrafficProps) {
  const { query, totals, lines } = useTrafficStats(project.id, since)
  const usage = useProjectUsage(project.id, since)
  const { name, bucketName, usageWidth } = windows[since]
  const chat = usage.data?.data.map(({ start_time, results }) => ({
    x: start_time * 1000,
    requests: sum(results.map((one) => one.num_model_requests)),
    tokens: sum(results.map((one) => one.input_tokens + one.output_tokens)),
  }))
  return (
    <section aria-label="Traffic">
      <PaneHead
        title="Traffic"
        note={`${name}, one bar = ${bucketName}`}
        tools={
          <TextLink to="/$entity/$project/traces" params={project.params}>
            All traces
          </TextLink>
        }
      />
      <Loaded query={query} what="traffic" skeleton={<SkeletonBlock what="Reading traffic" height={height + 40} />}>
        {() =>
          totals &&
          lines && (
            <div className={styles.charts}>
              <Chart
                title="Calls"
                figures={
                  <>
                    <span className={styles.errors}>{counted(totals.errors, "error")}</span> {formatCount(totals.calls)}
                  </>
                }
                label={`Calls and errors, ${name}`}
                series={[
                  { name: "calls", color: "series-1", kind: "bars", ...lines.calls },
                  { name: "errors", color: "series-4", kind: "bars", ...lines.errors },
                ]}
                formatY={formatCount}
                formatTick={formatCountTick}
              />
              <Chart
                title="Latency"
                figures={
                  <>
                    <Mark color="series-3">p50</Mark> <Mark color="series-2">p95</Mark>
                  </>
                }
                label={`Latency of calls, 50th and 95th percentile, ${name}`}
                series={[
                  { name: "p50", color: "series-3", ...lines.p50 },
                  { name: "p95", color: "series-2", ...lines.p95 },
                ]}
                formatY={formatDuration}
                formatTick={formatDurationTick}
              />
              <Chart
                title="Tokens in calls"
                figures={formatCount(totals.tokens)}
                label={`Tokens that calls report, ${name}`}
                series={[{ name: "tokens", color: "series-1", kind: "step", ...lines.tokens }]}
                formatY={formatCount}
                formatTick={formatCountTick}
              />
              {chat && (
                <Chart
                  title={`Tokens of own models, by ${usageWidth === "1h" ? "hour" : "day"}`}
                  figures={formatCount(sum(chat.map((one) => one.tokens)))}
                  label={`Tokens of chat on own models, ${name}`}
                  series={[
                    {
                      name: "tokens",
                      color: "series-6",
                      kind: "bars",
                      x: chat.map((one) => one.x),
                      y: chat.map((one) => one.tokens),
                    },
                  ]}
                  formatY={formatCount}
                  formatTick={formatCountTick}
                />
              )}
            </div>
          )
        }
      </Loaded>
    </section>
  )
}

interface ChartProps {
  title: string
  figures: ReactNode
  label: string
  series: readonly Series[]
  formatY: (y: number) => string
  formatTick?: (y: number) => string
}

function Chart({ title, figures, label, ...chart }: ChartProps) {
  return (
    <div className={styles.chart}>
      <h3 className={styles.title}>
        {title} <b className={styles.figures}>{figures}</b>
      </h3>
      <LineChart label={label} height={height} isTime yRange={fromZero} sync={sync} {...chart} />
    </div>
  )
}

function Mark({ color, children }: { color: string; children: string }) {
  return (
    <span className={styles.mark}>
      <i style={{ borderTopColor: `var(--${color})` }} />
      {children}
    </span>
  )
}
