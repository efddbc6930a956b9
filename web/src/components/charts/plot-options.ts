/** How uPlot draws a chart in the look of the design. Loaded with the first chart. */
import uPlot from "uplot"
import { formatTick } from "../../format/times.ts"
import type { ColorToken } from "./chart-colors.ts"
import { showReadout } from "./readout.ts"
import { toldApart, withoutRepeats } from "./ticks.ts"

export interface PlotShape {
  looks: {
    name: string
    color: ColorToken
    kind: "line" | "step" | "bars"
    isDashed: boolean
    isFaint: boolean
  }[]
  height: number
  isTime: boolean
  isDuration: boolean
  yRange?: [number | null, number | null]
  sync?: string
}

export interface PlotHandlers {
  onRange: (range: [number, number] | null) => void
  showX: (x: number) => string
  showY: (y: number) => string
  /** The same at the axis. */
  showTick: (y: number) => string
  colorOf: (token: ColorToken) => string
}

const font = '11px "IBM Plex Sans Variable", system-ui, sans-serif'
const labelGap = 4
/** So wide is the y axis of most charts, which therefore stand in line below each other. */
const usualAxis = 44
/** Seconds between ticks that a clock has too; longer ones are whole days. */
const durations = [
  ...[0.001, 0.01, 0.1].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[1, 60].flatMap((unit) => [1, 2, 5, 10, 15, 30].map((count) => count * unit)),
  ...[1, 2, 3, 4, 6, 12, 24, 48, 120, 240, 480, 1200, 2400, 4800].map((hours) => hours * 3600),
]
/** A drag of fewer pixels is a click. */
const leastDrag = 4

export function makePlot(parent: HTMLElement, shape: PlotShape, handlers: PlotHandlers): uPlot {
  const { looks, height, isTime, isDuration, yRange, sync } = shape
  const { onRange, showX, showTick, colorOf } = handlers
  const readout = document.createElement("div")
  readout.className = "heddle-readout"
  const axis = { stroke: colorOf("ink-3"), font, grid: { stroke: colorOf("line"), width: 1 }, ticks: { show: false } }
  const chart = new uPlot(
    {
      width: parent.clientWidth,
      height,
      ms: 1,
      legend: { show: false },
      // On the right there is room for half of the last number of the axis.
      padding: [6, 18, 0, 0],
      scales: {
        x: { time: isTime },
        y: { range: (_plot, low, high) => (yRange === undefined ? spread(low, high) : rangeOf(yRange, low, high)) },
      },
      cursor: {
        drag: { x: true, y: false, setScale: false, dist: leastDrag },
        points: { size: 6 },
        ...(sync === undefined ? {} : { sync: { key: sync } }),
        bind: {
          dblclick: () => () => {
            onRange(null)
            return null
          },
        },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 22,
          gap: 4,
          space: isTime || isDuration ? 64 : 40,
          ...(isDuration ? { incrs: durations } : {}),
          values: (_plot, values, _axis, _space, step) =>
            withoutRepeats(values.map((value) => (isTime ? formatTick(new Date(value), step) : showX(value)))),
        },
        {
          ...axis,
          size: widthOfLabels,
          gap: labelGap,
          space: 28,
          values: (_plot, values) => toldApart(values, showTick),
        },
      ],
      series: [{}, ...looks.map((look) => seriesOf(look, colorOf))],
      hooks: {
        setSelect: [
          (plot) => {
            const { left, width } = plot.select
            if (width < leastDrag) return
            onRange([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")])
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          },
        ],
        setCursor: [(plot) => showReadout(plot, readout, shape, handlers)],
      },
    },
    [[], ...looks.map(() => [])],
    parent,
  )
  chart.over.append(readout)
  return chart
}

/** The width of the y axis: that of its longest label, where the usual one would cut it. */
function widthOfLabels({ ctx }: uPlot, labels: string[] | null): number {
  ctx.save()
  ctx.font = font
  const widths = (labels ?? []).map((label) => ctx.measureText(label).width)
  ctx.restore()
  return Math.max(usualAxis, Math.ceil(Math.max(0, ...widths)) + 2 * labelGap)
}

function seriesOf(look: PlotShape["looks"][number], colorOf: PlotHandlers["colorOf"]): uPlot.Series {
  const stroke = colorOf(look.color)
  const { kind, isDashed, isFaint } = look
  const paths =
    kind === "bars"
      ? uPlot.paths.bars?.({ size: [0.9, 24] })
      : kind === "step"
        ? uPlot.paths.stepped?.({ align: 1 })
        : undefined
  return {
    label: look.name,
    stroke,
    width: kind === "bars" ? 0 : isFaint ? 1 : 1.5,
    alpha: isFaint ? 0.35 : kind === "bars" ? 0.7 : 1,
    spanGaps: true,
    points: { show: (plot, index) => isShort(plot.data[index] ?? []) },
    ...(isDashed ? { dash: [5, 4] } : {}),
    ...(kind === "bars" ? { fill: stroke } : {}),
    ...(paths === undefined ? {} : { paths }),
  }
}

/** Too few values to be seen as a line. */
function isShort(values: ArrayLike<number | null | undefined>): boolean {
  let count = 0
  for (let place = 0; place < values.length && count < 3; place += 1) if (values[place] != null) count += 1
  return count < 3
}

/** With some room around the values. uPlot shows values that are all 0 from 0 to 100, which as a share is 10,000 %. */
function spread(least: number | null, most: number | null): [number, number] {
  if (least === null || most === null || (least === 0 && most === 0)) return [0, 1]
  const [from, to] = uPlot.rangeNum(least, most, 0.1, true)
  return [from ?? least, to ?? most]
}

function rangeOf(
  [low, high]: readonly [number | null, number | null],
  least: number | null,
  most: number | null,
): [number, number] {
  const from = low ?? least ?? 0
  const to = high ?? most ?? 1
  return from === to ? [from, from + 1] : [from, to]
}
