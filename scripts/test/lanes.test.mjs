import { expect, test } from "vitest"
import { runInLanes } from "./lanes.mjs"
import { longestSuites, suites } from "./suites.mjs"

/** Runs suites that end when `end` is called with their name; `begun` has names in the order of their beginnings. */
function started(chosen, how) {
  const begun = []
  const ends = new Map()
  const all = runInLanes(
    chosen.map((suite) => ({ suite })),
    how,
    ({ suite: { name } }) => {
      begun.push(name)
      return new Promise((end) => ends.set(name, end))
    },
  )
  const end = async (name) => {
    ends.get(name)()
    // As many turns as promises of a lane take.
    await new Promise((later) => setImmediate(later))
  }
  return { all, begun, end }
}

const alone = (name) => ({ name })
const beside = (name) => ({ name, beside: true })

test("suites that are not beside run one after the other, and two lanes take their place when they are done", async () => {
  const chosen = [alone("one"), alone("two"), ...["a", "b", "c", "d", "e", "f"].map(beside)]
  const { all, begun, end } = started(chosen, { lanes: 2, helpers: 2 })
  expect(begun).toEqual(["one", "a", "b"])
  await end("a")
  await end("one")
  expect(begun.slice(3)).toEqual(["c", "two"])
  await end("two")
  expect(begun.slice(5)).toEqual(["d", "e"])
  for (const name of ["b", "c", "d", "e", "f"]) await end(name)
  await all
  expect(begun).toHaveLength(8)
})

test("the longest begin first, and without suites of their own there is no lane more", async () => {
  const { all, begun, end } = started(["a", "b", "c", "d"].map(beside), { lanes: 2, longest: ["d", "missing", "b"] })
  expect(begun).toEqual(["d", "b"])
  await end("b")
  await end("a")
  expect(begun).toEqual(["d", "b", "a", "c"])
  for (const name of ["c", "d"]) await end(name)
  await all
})

test("the suites that are said to be the longest exist, and run beside others", () => {
  const named = longestSuites.map((name) => suites.find((suite) => suite.name === name))
  expect(named.map((suite) => suite?.beside)).toEqual(longestSuites.map(() => true))
})
