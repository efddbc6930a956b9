import { expect, test } from "vitest"
import { listForAddress, listOfAddress, mostInAddress } from "./kept-list.ts"

/** Holds at most `room` characters of values. */
function storeOf(room = Number.POSITIVE_INFINITY) {
  const held = new Map<string, string>()
  return {
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, value: string) => {
      const others = [...held].filter(([other]) => other !== key)
      const used = others.reduce((sum, [, text]) => sum + text.length, 0)
      if (used + value.length > room) throw new Error("the quota is exceeded")
      held.set(key, value)
    },
    removeItem: (key: string) => void held.delete(key),
  }
}

const idsOf = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `call-${from + index}`)

test("a short list stands in the address", () => {
  const store = storeOf(0)
  const ids = idsOf(mostInAddress)
  expect(listForAddress(store, ids)).toEqual(ids)
  expect(listOfAddress(store, ids)).toEqual(ids)
  expect(listOfAddress(store, [])).toEqual([])
})

test("a long list is kept under a short name, and found again by it", () => {
  const store = storeOf()
  const [ids, others] = [idsOf(1000), idsOf(300, 5000)]
  const address = listForAddress(store, ids) as string[]
  expect(listForAddress(store, others)).not.toEqual(address)
  expect(address.join(",").length).toBeLessThan(40)
  expect(listOfAddress(store, address)).toEqual(ids)
})

test("a list that another browser keeps is not known", () => {
  const address = listForAddress(storeOf(), idsOf(500)) as string[]
  expect(listOfAddress(storeOf(), address)).toBeNull()
})

test("the twenty newest are kept", () => {
  const store = storeOf()
  const addresses = Array.from({ length: 21 }, (_, index) => listForAddress(store, idsOf(101, index)) as string[])
  expect(addresses.map((address) => listOfAddress(store, address)?.[0] ?? null)).toEqual([
    null,
    ...Array.from({ length: 20 }, (_, index) => `call-${index + 1}`),
  ])
})

test("a browser that is short of room loses older lists; one that has none says so", () => {
  const store = storeOf(3000)
  const first = listForAddress(store, idsOf(150)) as string[]
  const second = listForAddress(store, idsOf(150)) as string[]
  expect(listOfAddress(store, first)).toBeNull()
  expect(listOfAddress(store, second)).toHaveLength(150)
  expect(listForAddress(store, idsOf(1000))).toBeNull()
})
