/** Expected figures are those of SciPy 1.16 (`stats.norm`, `binomtest`, `permutation_test`, `bootstrap` with 400,000 draws). */
import { describe, expect, test } from "vitest"
import { meanInterval, meanOf, shareInterval } from "./intervals.ts"
import { normalCdf, normalQuantile } from "./normal.ts"
import { pairedTest, signTest } from "./paired-tests.ts"

const few = [0.3, -0.1, 0.5, 0.2, 0.9, -0.4, 0.7, 0.15]
const skewed = [1, 1.2, 0.9, 1.1, 5.5, 1.3, 0.8, 1.05, 7.9, 1.15, 1, 0.95]
const forty = Array.from({ length: 40 }, (_, index) => ((index * 37) % 101) / 101 - 0.42)
const many = Array.from({ length: 1500 }, (_, index) => ((index * 7919) % 1009) / 1009 - 0.49)

test.each([
  [-10, 7.61985302416047e-24],
  [-8, 6.22096057427174e-16],
  [-1.959963984540054, 0.025],
  [-0.5, 0.3085375387259869],
  [0, 0.5],
  [1, 0.8413447460685429],
  [7.5, 0.9999999999999681],
])("the share of a normal distribution below %d", (x, share) => {
  expect(normalCdf(x) / share).toBeCloseTo(1, 7)
})

test.each([
  [1e-10, -6.361340902404056],
  [0.025, -1.9599639845400545],
  [0.5, 0],
  [0.9, 1.2815515655446004],
  [0, -Infinity],
  [1, Infinity],
])("the value below which a share of %d lies", (share, value) => {
  if (Number.isFinite(value)) expect(normalQuantile(share)).toBeCloseTo(value, 9)
  else expect(normalQuantile(share)).toBe(value)
})

test.each([
  [0, 10, 0, 0.27753279986288926],
  [7, 10, 0.39677814746114526, 0.892208732593699],
  [225, 312, 0.6689359870890924, 0.7679920859867851],
  [10, 10, 0.7224672001371109, 1],
])("Wilson's interval of %d of %d", (yes, count, low, high) => {
  const interval = shareInterval(yes, count)
  expect(interval?.[0]).toBeCloseTo(low, 10)
  expect(interval?.[1]).toBeCloseTo(high, 10)
})

describe("the interval of a mean", () => {
  test.each([
    ["few values", few, 0, 0.54375, 0.03],
    ["a skewed sample", skewed, 1.05, 3.8833333333333333, 0.15],
    ["forty values", forty, -0.01678217821782177, 0.16465346534653466, 0.008],
  ])("of %s is the bootstrap's", (_, values, low, high, tolerance) => {
    const [from = Number.NaN, to = Number.NaN] = meanInterval(values) ?? []
    expect(Math.abs(from - low)).toBeLessThan(tolerance)
    expect(Math.abs(to - high)).toBeLessThan(tolerance)
  })

  test("of many values is the normal one", () => {
    const interval = meanInterval(many)
    expect(interval?.[0]).toBeCloseTo(-0.005267020047482057, 10)
    expect(interval?.[1]).toBeCloseTo(0.023978615686728853, 10)
  })

  test("is the same each time, one point for equal values, and none of one value", () => {
    expect(meanInterval(few)).toEqual(meanInterval([...few]))
    expect(meanInterval([0.1, 0.1, 0.1])).toEqual([meanOf([0.1, 0.1, 0.1]), meanOf([0.1, 0.1, 0.1])])
    expect(meanInterval([3])).toBeNull()
  })
})

describe("p of a paired test", () => {
  test.each([
    [31, 18, 0.08543313315739454],
    [41, 12, 8.171334999262925e-5],
    [0, 5, 0.0625],
    [3, 3, 1],
    [900, 1000, 0.023108845108901193],
    [0, 0, 1],
  ])("%d better and %d worse answers of yes and no: McNemar's exact test", (better, worse, p) => {
    const differences = [...Array<number>(better).fill(1), ...Array<number>(worse).fill(-1), 0, 0]
    expect(signTest(better, worse) / p).toBeCloseTo(1, 9)
    expect(pairedTest(differences, true)).toEqual({ p: signTest(better, worse), name: "exact McNemar test" })
  })

  test("of few numbers every combination of signs is counted", () => {
    expect(pairedTest([...few, 0], false)).toEqual({ p: 0.1171875, name: "exact permutation test" })
  })

  test("of more numbers signs are drawn", () => {
    const { p, name } = pairedTest(forty, false)
    expect(name).toBe("permutation test, 9,999 draws")
    expect(Math.abs(p - 0.12386969)).toBeLessThan(0.012)
  })

  test("of very many numbers it is normal", () => {
    const { p, name } = pairedTest(many, false)
    expect(name).toBe("z test")
    expect(p).toBeCloseTo(0.20984167812840182, 9)
  })

  test("numbers that differ by one size alone have the p of the sign test", () => {
    const differences = [0.25, 0.25, 0.25, 0.25, 0.25, -0.25]
    expect(pairedTest(differences, false).p).toBeCloseTo(signTest(5, 1), 12)
  })

  test("without any difference nothing is unlikely", () => {
    expect(pairedTest([0, 0, 0], false).p).toBe(1)
  })
})
