import { expect, test } from "vitest"
import { RequestRates } from "./request-rates.ts"

function clock() {
  let now = 0
  const rates = new RequestRates(() => now)
  return { rates, pass: (ms: number) => (now += ms) }
}

test("a minute's requests at once, then evenly", () => {
  const { rates, pass } = clock()
  for (let at = 0; at < 60; at++) expect(rates.take("a", 60)).toBe(null)
  expect(rates.take("a", 60)).toBe(1_000)
  pass(400)
  expect(rates.take("a", 60)).toBe(600)
  pass(600)
  expect(rates.take("a", 60)).toBe(null)
  expect(rates.take("a", 60)).toBe(1_000)
})

test("never more than a minute's in any minute and a burst, whatever the rhythm", () => {
  const { rates, pass } = clock()
  let passed = 0
  for (let ms = 0; ms < 60_000; ms += 7) {
    if (rates.take("a", 100) === null) passed += 1
    pass(7)
  }
  expect(passed).toBe(199)
})

test("keys do not take from each other", () => {
  const { rates } = clock()
  expect([rates.take("a", 1), rates.take("a", 1), rates.take("b", 1)]).toEqual([null, 60_000, null])
})

test("a limit that is lowered holds at once; one of 0 lets nothing in", () => {
  const { rates } = clock()
  rates.take("a", 1_000)
  expect(rates.used("a", 1_000)).toBe(1)
  for (let at = 0; at < 10; at++) rates.take("a", 10)
  expect(rates.take("a", 10)).toBe(6_000)
  expect(rates.take("a", 0)).toBe(60_000)
})

test("keys that were left alone are forgotten when there are many", () => {
  const { rates, pass } = clock()
  for (let key = 0; key < 10_000; key++) rates.take(`idle-${key}`, 1)
  pass(60_000)
  rates.take("a", 1)
  for (let key = 0; key < 10_000; key++) expect(rates.take(`idle-${key}`, 1)).toBe(null)
})
