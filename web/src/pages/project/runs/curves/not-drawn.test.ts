import { expect, test } from "vitest"
import { notDrawnTitle, notDrawnWords } from "./not-drawn.ts"

const nan = (steps: readonly number[], count = steps.length) => ({
  metric: "loss",
  count,
  step: [...steps],
  value: steps.map(() => "NaN" as const),
  last: { step: 190, value: "NaN" as const },
})

test("few values are named with their steps, of many the first and the last", () => {
  expect(notDrawnWords(nan([20]))).toBe("1 not drawn: NaN at step 20")
  expect(notDrawnWords(nan([3, 20, 37, 54]))).toBe("4 not drawn: NaN at step 3, 20, 37, 54")
  expect(notDrawnWords(nan([3, 20, 37, 54, 71, 190]))).toBe(
    "6 not drawn: NaN at step 3, 20, 37, 54 and 2 more until 190",
  )
  expect(notDrawnTitle(nan([3, 20, 37, 54, 71, 190]))).toBe("NaN at step 3, 20, 37, 54, 71, 190")
  expect(notDrawnTitle(nan([3, 20], 8000))).toBe("NaN at step 3, 20, and 7,998 more until step 190")
})

test("each value is told where it begins", () => {
  const mixed = { ...nan([3, 4, 9]), value: ["NaN" as const, "Infinity" as const, "Infinity" as const] }
  expect(notDrawnWords(mixed)).toBe("3 not drawn: NaN at step 3, Infinity at 4, 9")
  expect(notDrawnWords({ ...mixed, count: 9, last: { step: 40, value: "-Infinity" } })).toBe(
    "9 not drawn: NaN at step 3, Infinity at 4, 9 and 6 more until -Infinity at 40",
  )
})
