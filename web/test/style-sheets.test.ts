/** A class that a component names is in its sheet, and a sheet has no class that nobody names. TypeScript cannot tell. */
import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"

const source = path.resolve(import.meta.dirname, "../src")
const sheets = globSync("**/*.module.css", { cwd: source })

/** Sheets whose classes are chosen by a value: `styles[kind]`. */
const chosenByValue = /styles\[[^\]]+\]/

function usersOf(sheet: string): string[] {
  const name = path.basename(sheet)
  const folder = path.join(source, path.dirname(sheet))
  const files = globSync("*.tsx", { cwd: folder }).map((file) => readFileSync(path.join(folder, file), "utf8"))
  return files.filter((text) => text.includes(`./${name}`))
}

test.each(sheets)("%s", (sheet) => {
  const css = readFileSync(path.join(source, sheet), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "")
  const defined = new Set(
    [...css.replaceAll(/:global\([^)]*\)/g, "").matchAll(/\.([a-zA-Z][\w-]*)(?=[^{}]*\{)/g)].map(
      (match) => match[1] ?? "",
    ),
  )
  const users = usersOf(sheet)
  expect(users).not.toEqual([])
  const text = users.join("\n")
  const named = new Set([...text.matchAll(/styles\.(\w+)/g)].map((match) => match[1] ?? ""))
  expect([...named].filter((name) => !defined.has(name))).toEqual([])
  if (chosenByValue.test(text)) return
  expect([...defined].filter((name) => !named.has(name))).toEqual([])
})
