import { describe, expect, test } from "vitest"
import { blocksOf, moved, pageBounds, pageOf, pagesOf, topWindow, upTo } from "./row-window.ts"

const at = (...steps: [number, number][]) =>
  steps.reduce((window, [first, last]) => moved(window, first, last), topWindow)

describe("the window of rows", () => {
  test("at the top holds what is seen, in whole blocks", () => {
    expect(at([0, 36])).toEqual({ seen: [0, 49], wanted: [0, 49], listed: [0, 49] })
  })

  test("reads ahead where it is scrolled to, downwards and upwards, rows further than their payloads", () => {
    expect(at([0, 36], [20, 66])).toEqual({ seen: [0, 99], wanted: [0, 249], listed: [0, 399] })
    expect(at([0, 36], [20, 66], [51, 97])).toEqual({ seen: [50, 99], wanted: [50, 249], listed: [50, 399] })
    expect(at([600, 646], [590, 636])).toEqual({ seen: [550, 649], wanted: [400, 649], listed: [250, 649] })
    expect(at([60, 106], [40, 86])).toMatchObject({ wanted: [0, 99], listed: [0, 99] })
  })

  test("after a jump holds what is seen alone", () => {
    expect(at([0, 36], [20, 66], [5000, 5046])).toEqual({
      seen: [5000, 5049],
      wanted: [5000, 5049],
      listed: [5000, 5049],
    })
    expect(at([5000, 5046], [0, 36]).wanted).toEqual([0, 49])
  })

  test("stays the same object while its blocks do", () => {
    const before = at([0, 36])
    expect(moved(before, 2, 38)).toBe(before)
  })

  test("ends where the list ends", () => {
    expect(upTo(351, [300, 499])).toEqual([300, 350])
    expect(upTo(Infinity, [300, 499])).toEqual([300, 499])
  })
})

test("pages lie behind each other without a gap, and each row is in one", () => {
  let next = 0
  for (const page of [0, 1, 2, 3]) {
    const { offset, limit } = pageBounds(page)
    expect(offset).toBe(next)
    expect(pageOf(offset)).toEqual({ page, place: 0 })
    expect(pageOf(offset + limit - 1)).toEqual({ page, place: limit - 1 })
    next = offset + limit
  }
  expect(pagesOf([0, 99])).toEqual([0])
  expect(pagesOf([50, 500])).toEqual([0, 1, 2])
})

test("no block of payloads lies in two pages", () => {
  for (const block of blocksOf([0, 999])) {
    expect(block).toHaveLength(50)
    expect(pageOf(block.at(0) ?? 0).page).toBe(pageOf(block.at(-1) ?? 0).page)
  }
})
