import { expect, test } from "vitest"
import { curveAxis, onAxis } from "./curve-axis.ts"

const asked = { source: "history", x: undefined, isCompared: false, stepMetric: undefined } as const

test("a metric stands over what the program defined, its steps, or time; compared runs over the time since each began", () => {
  const names = [
    asked,
    { ...asked, stepMetric: "epoch" },
    { ...asked, stepMetric: "epoch", x: "step" as const },
    { ...asked, stepMetric: "epoch", x: "time" as const },
    { ...asked, x: "time" as const, isCompared: true },
    { ...asked, source: "system" as const, stepMetric: "epoch" },
  ].map((one) => {
    const { name, column, isTime, isDuration } = curveAxis(one)
    return [name, column, isTime, isDuration]
  })
  expect(names).toEqual([
    ["step", undefined, false, false],
    ["epoch", "epoch", false, false],
    ["step", undefined, false, false],
    ["time", undefined, true, false],
    ["time", "_runtime", false, true],
    ["time", undefined, true, false],
  ])
})

test("what machines did is counted from the first row where runs are compared", () => {
  const axis = curveAxis({ ...asked, source: "system", isCompared: true })
  const at = ["2026-11-20T08:00:00Z", "2026-11-20T10:30:00Z"]
  const curve = { metric: "system.cpu", step: [0, 1], at, min: [1, 2], max: [1, 2], mean: [1, 2], last: [1, 2] }
  expect(onAxis(curve, axis).x).toEqual([0, 9000])
  expect(onAxis(curve, curveAxis({ ...asked, source: "system" })).x).toBeUndefined()
  expect([0, 30, 7200, 9000].map(axis.format)).toEqual(["0", "30\u202fs", "2\u202fh", "2\u202fh 30\u202fmin"])
})
