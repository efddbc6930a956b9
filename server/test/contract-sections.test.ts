/** Every section of the evaluation store's contracts that has rules is cited by a test of this repository. */
import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"

const root = path.resolve(import.meta.dirname, "../..")

/** Sections with rules; the others tell sources, open points and where the seed is answered. */
const sections = {
  calls: "1.1 1.2 1.3 1.4 1.5 2.1 2.2 2.3 3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8 3.9 3.10 4.1 4.2 4.3 5 6.1 6.2 7 8 9 10",
  objects: "1 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 3.1 3.2 3.3 3.4 4 5 6.1 6.2 6.3 7 8 9 10 11 12 13 14 15.1 15.2 15.3",
}

const testFiles = ["server/src/**/*.test.ts", "server/test/*.test.ts", "compat/{node,python,reference}/*test*.{ts,py}"]

/** Numbers after the name of a contract: `objects 2.1, 7`. */
function citedSections(contract: string): Set<string> {
  const citation = new RegExp(String.raw`\b${contract} (\d+(?:\.\d+)?(?:(?:, | and )\d+(?:\.\d+)?)*)`, "g")
  const files = testFiles.flatMap((pattern) => globSync(pattern, { cwd: root })).map((name) => path.join(root, name))
  const own = path.basename(import.meta.filename)
  const texts = [...files.filter((name) => path.basename(name) !== own), path.join(root, "compat/requirements.json")]
  return new Set(
    texts.flatMap((name) =>
      [...readFileSync(name, "utf8").matchAll(citation)].flatMap(([, numbers = ""]) => numbers.split(/, | and /)),
    ),
  )
}

test.each(Object.entries(sections))("%s: every section is cited", (contract, numbers) => {
  const cited = citedSections(contract)
  expect(numbers.split(" ").filter((number) => !cited.has(number))).toEqual([])
})
