import { existsSync } from "node:fs"
import { expect, test } from "vitest"
import { fromRoot } from "../setup/paths.mjs"
import { LongestFirst, longestFiles } from "./longest-first.ts"

test("files that take longest exist, and start before the others", async () => {
  expect(longestFiles.filter((file) => !existsSync(fromRoot(file)))).toEqual([])
  const [first, , third] = longestFiles
  const project = { name: "", config: { sequence: { groupOrder: 0 }, isolate: false } }
  const specification = (file) => ({ moduleId: fromRoot(file), project })
  const cache = { getTestSpecificationResult: () => ({ duration: 1, failed: false }) }
  const files = ["server/test/agents/odd.test.ts", third, "web/src/app.test.ts", first]
  // oxlint-disable-next-line unicorn/no-array-sort -- a method of vitest, which returns another array
  const sorted = await new LongestFirst({ cache }).sort(files.map(specification))
  expect(sorted.map(({ moduleId }) => moduleId)).toEqual(
    [first, third, files[0], files[2]].map((file) => fromRoot(file)),
  )
})
