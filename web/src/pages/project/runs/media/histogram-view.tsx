/** How values were distributed at one step: a bar for each bin. */
import { LineChart } from "../../../../components/charts/line-chart.tsx"
import { formatCount } from "../../../../format/numbers.ts"
import { histogramBars } from "./histograms.ts"
import type { LoggedHistogram } from "./logged-media.ts"

const height = 160

export function HistogramView({ label, histogram }: { label: string; histogram: LoggedHistogram }) {
  const series = [{ name: "count", color: "series-1" as const, kind: "bars" as const, ...histogramBars(histogram) }]
  return (
    <LineChart
      label={`${label}: how many values lie where`}
      series={series}
      height={height}
      yRange={[0, null]}
      formatTick={formatCount}
    />
  )
}
