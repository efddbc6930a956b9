/** A style sheet has each class that its components name, and no other: TypeScript does not check either. */
import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"

const source = path.resolve(import.meta.dirname, "../src")
const sheets = globSync("**/*.module.css", { cwd: source })

/** Matches a class that is chosen by a value, such as `styles[kind]`: then any class of the sheet may be used. */
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
