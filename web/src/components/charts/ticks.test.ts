import { expect, test } from "vitest"
import { formatNumber } from "../../format/numbers.ts"
import { toldApart, withoutRepeats } from "./ticks.ts"

test("ticks that their labels tell apart keep them", () => {
  expect(toldApart([-0.1, 0, 0.1], formatNumber)).toEqual(["−0.1", "0", "0.1"])
})

test("ticks closer together than that say how far they are above the lowest", () => {
  expect(toldApart([1, 1.0000005, 1.000001], formatNumber)).toEqual(["1", "+5.0e−7", "+1.0e−6"])
  expect(toldApart([], formatNumber)).toEqual([])
})

test("a time that stands there already is left out", () => {
  expect(withoutRepeats(["12:00", "12:00", "12:01"])).toEqual(["12:00", "", "12:01"])
})
