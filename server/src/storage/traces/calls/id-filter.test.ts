import { expect, test } from "vitest"
import { IdFilter } from "./id-filter.ts"

test("forgets no id, and takes few for one that it has, also when it has grown", () => {
  const filter = new IdFilter()
  const ids = Array.from({ length: 300_000 }, (_, index) => (index * 2_654_435_761).toString(16).padStart(16, "0"))
  const taken = ids.filter((id) => filter.add(id)).length
  expect(taken).toBeLessThan(300)
  expect(filter.count).toBe(ids.length - taken)
  expect(ids.every((id) => filter.add(id))).toBe(true)
})
