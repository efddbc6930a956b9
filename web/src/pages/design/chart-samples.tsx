import { useState } from "react"
import { LineChart, type Series } from "../../components/charts/line-chart.tsx"
import { ChartLegend } from "../../components/charts/line-chart.tsx"
import { Button } from "../../components/controls/button.tsx"
import type { ColorToken } from "../../components/charts/chart-colors.ts"
import { Sparkline } from "../../components/charts/sparkline.tsx"
import { Line, Sample } from "./sample.tsx"

const points = 100_000
const peak = 41_234

/** The same in each visit: a test looks for the one peak among 100,000 points. */
function curve(seed: number): Pick<Series, "x" | "y"> {
  const x = Float64Array.from({ length: points }, (_, index) => index)
  const y = Float64Array.from({ length: points }, (_, index) => {
    const noise = Math.sin(index * 12.9898 + seed * 78.233) * 0.05
    return 0.4 + 0.4 * (1 - Math.exp(-index / 40_000)) + noise + (seed === 1 && index === peak ? 1 : 0)
  })
  return { x, y }
}

const long: Series[] = [
  { name: "reward", color: "series-1", ...curve(1) },
  { name: "baseline", color: "series-0", isDashed: true, ...curve(2) },
]

const few: Series[] = [
  { name: "calls", color: "series-1", kind: "bars", x: [1, 2, 3, 4, 5, 6], y: [4, 7, 5, 9, 8, 6] },
  { name: "errors", color: "series-4", kind: "bars", x: [1, 2, 3, 4, 5, 6], y: [0, 1, 0, 3, 1, 0] },
]

export function ChartSamples() {
  return (
    <>
      <Sample title="Lines of 100,000 points, with the one peak: drag to zoom, double click to go back" isWide>
        <ChartLegend series={long} />
        <LineChart label="Reward by step, with one peak" series={long} height={160} />
      </Sample>
      <EightCurves />
      <Sample title="Bars, and lines in a row">
        <LineChart label="Calls and errors" series={few} height={120} yRange={[0, null]} />
        <Line>
          <Sparkline what="reward" values={[0.64, 0.66, 0.65, 0.7, 0.69, 0.74]} />
          <Sparkline what="errors" color="series-4" values={[0.5, 0.6, 0.4, 3.1, 4.4, 4.1]} />
        </Line>
      </Sample>
    </>
  )
}

const eightLabel = "Eight curves of 100,000 points"
const colors: readonly ColorToken[] = [
  "series-1",
  "series-2",
  "series-3",
  "series-4",
  "series-5",
  "series-6",
  "series-0",
  "series-0",
]
const eight = (): Series[] =>
  colors.map((color, index) => ({ name: `run ${index + 1}`, color, isDashed: index > 6, ...curve(index + 2) }))

/** On demand, so that a benchmark sees it drawn: `npm run bench -- web-curves`. */
function EightCurves() {
  const [isShown, setShown] = useState(false)
  const [series] = useState(eight)
  return (
    <Sample title="As many as can be told apart" isWide>
      <Button isOn={isShown} onClick={() => setShown(!isShown)}>
        {eightLabel}
      </Button>
      {isShown && <LineChart label={eightLabel} series={series} height={200} />}
    </Sample>
  )
}
