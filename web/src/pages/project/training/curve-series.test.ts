import { expect, test } from "vitest"
import { curveSeries } from "./curve-series.ts"

const curve = {
  step: [1, 2],
  at: ["2026-01-01T00:00:00.000Z", "2026-01-01T00:01:00.000Z"],
  min: [1, 2],
  max: [1, 90],
  mean: [1, 31],
}
const drawn = { name: "Loss", color: "series-1", isDashed: false, curve } as const

test("where a point stands for several values, the lowest and highest are drawn behind it", () => {
  const lines = curveSeries([drawn], { x: "step", smooth: 0 })
  expect(lines.map(({ name, y, isFaint = false }) => [name, y, isFaint])).toEqual([
    ["Loss, lowest", [1, 2], true],
    ["Loss, highest", [1, 90], true],
    ["Loss", [1, 31], false],
  ])
})

test("a smoothed line keeps the raw one behind it; x may be time", () => {
  const plain = { ...drawn, curve: { ...curve, min: curve.mean, max: curve.mean } }
  const lines = curveSeries([plain], { x: "time", smooth: 0.5 })
  expect(lines.map(({ name, y }) => [name, y])).toEqual([
    ["Loss, raw", [1, 31]],
    ["Loss", [1, 21]],
  ])
  expect(lines[0]?.x).toEqual([1767225600000, 1767225660000])
})
