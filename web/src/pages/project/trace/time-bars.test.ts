import { expect, test } from "vitest"
import { lanesOf } from "./minimap-lanes.ts"
import { barOf, ticksOf, windowAround, windowOf } from "./time-bars.ts"

test("bars are cut at the window, and those beside it say on which side", () => {
  const window = { from: 100, to: 200 }
  expect(barOf(125, 150, window)).toEqual({ left: 25, width: 25, side: "inside" })
  expect(barOf(0, 400, window)).toEqual({ left: 0, width: 100, side: "inside" })
  expect([barOf(0, 50, window).side, barOf(201, 300, window).side]).toEqual(["before", "after"])
})

test.each([
  [{ from: 0, to: 1000 }, [0, 200, 400, 600, 800, 1000]],
  [{ from: 90, to: 110 }, [90, 95, 100, 105, 110]],
  [{ from: 0, to: 372_000 }, [0, 120_000, 240_000, 360_000]],
  [{ from: 0, to: 0 }, [0]],
])("ticks of %j", (window, ticks) => expect(ticksOf(window)).toEqual(ticks))

test("the window of an address, and around a call", () => {
  expect(windowOf(500, 100, 200)).toEqual({ from: 100, to: 200 })
  expect([windowOf(500, 200, 100), windowOf(500, undefined, 9)]).toEqual([
    { from: 0, to: 500 },
    { from: 0, to: 500 },
  ])
  expect(windowAround(100, 100)).toEqual({ from: 95, to: 205 })
})

test("the deepest calls share the last line of the strip", () => {
  const spans = Array.from({ length: 30 }, (_, depth) => ({ depth }))
  const { laneOf, lanes } = lanesOf({ spans: spans as never })
  expect([lanes, laneOf[0], laneOf[9], laneOf[29]]).toEqual([10, 0, 9, 9])
})
