/** Curves of metrics as lines of a chart. */
import type { MetricCurve } from "@heddle/server/wire/training/model-metrics.ts"
import type { ColorToken } from "../../../components/charts/chart-colors.ts"
import type { Series } from "../../../components/charts/line-chart.tsx"
import { smoothed } from "./smooth.ts"

export interface DrawnCurve {
  /** In the legend. */
  name: string
  color: ColorToken
  isDashed: boolean
  /** `x`: its own places on the axis, instead of steps or times. */
  curve: Pick<MetricCurve, "step" | "at" | "min" | "max" | "mean" | "x">
}

export interface CurveLooks {
  x: "step" | "time"
  /** From 0 to 1. */
  smooth: number
}

/**
 * The line of a curve, and behind it what it is made of: the values before smoothing, and the lowest and highest where a
 * point stands for several values, so that no peak is lost.
 */
export function curveSeries(curves: readonly DrawnCurve[], { x, smooth }: CurveLooks): Series[] {
  return curves.flatMap(({ name, color, isDashed, curve }) => {
    const places = curve.x ?? (x === "step" ? curve.step : curve.at.map((time) => Date.parse(time)))
    const isSpread = curve.min.some((low, index) => low !== curve.max[index])
    const behind = { x: places, color, isFaint: true }
    return [
      ...(isSpread
        ? [
            { ...behind, name: `${name}, lowest`, y: curve.min },
            { ...behind, name: `${name}, highest`, y: curve.max },
          ]
        : []),
      ...(smooth > 0 ? [{ ...behind, name: `${name}, raw`, y: curve.mean }] : []),
      { x: places, name, color, isDashed, y: smooth > 0 ? smoothed(curve.mean, smooth) : curve.mean },
    ]
  })
}
