/**
 * The help of one benchmark, for `npm run bench -- NAME --help`. It is read from the benchmark's source, because
 * nothing that could run it is installed. In `export const options`, the comment above an option says what the option
 * means.
 */
import { readFileSync } from "node:fs"
import { fromRoot } from "./setup/paths.mjs"

/** The names that bench/bench.ts knows. */
export function benchmarkNames() {
  const source = readFileSync(fromRoot("bench", "bench.ts"), "utf8")
  return [...source.matchAll(/^ {2}"?([\w-]+)"?: \(\) => import/gm)].map(([, name]) => name)
}

/** `about` says what the benchmark `name` measures; `rows` are its own options, each with its meaning and default. */
export function benchmarkHelp(name) {
  const source = readFileSync(fromRoot("bench", `${name}.ts`), "utf8")
  const about = /^\/\*\* (.*) \*\/$/m.exec(source)[1]
  const block = /^export const options = (\{[\s\S]*?\}) as const$/m.exec(source)[1]
  const option = /\/\*\* (.*) \*\/\s*"?([\w-]+)"?: \{ type: "(\w+)", default: (.*?) \}/g
  const rows = [...block.matchAll(option)].map(([, meaning, own, type, value]) =>
    type === "boolean"
      ? [`--${own}`, asRow(meaning)]
      : [`--${own} ${valueName(own)}`, `${asRow(meaning)} (default: ${JSON.parse(value) || "none"})`],
  )
  return { about, rows }
}

/** A sentence as the rows of help are written. */
const asRow = (meaning) => meaning.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()).replace(/\.$/, "")

const valueName = (option) => option.toUpperCase().replaceAll("-", "_")
