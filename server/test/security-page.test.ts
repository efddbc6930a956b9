/** SECURITY.md says which test holds the server to which promise. */
import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"

const root = path.resolve(import.meta.dirname, "../..")

test("every file that SECURITY.md links to is there", () => {
  const page = readFileSync(path.join(root, "SECURITY.md"), "utf8")
  const links = Array.from(page.matchAll(/\]\(([^)#]+)/g), ([, file = ""]) => file)
  expect(links.length).toBeGreaterThan(20)
  expect(links.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
})
