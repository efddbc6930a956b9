/**
 * Reads the pages of `docs/contracts` and `docs/laws.md`: the numbers of their headings, and of points and rows below.
 */
import { globSync, readFileSync } from "node:fs"
import path from "node:path"

export const root = path.resolve(import.meta.dirname, "../../..")

export interface Section {
  /** Numbers of the points of a numbered list: `1.`, `2.`, … */
  points: Set<string>
  /** Numbers in the first column of tables. */
  rows: Set<string>
}

export type Page = Map<string, Section>

const heading = /^#{2,4} (\d+(?:\.\d+)*)[. ]/
const lawsHeading = /^## (Law|Security) (\d+(?:\.\d+)*): /

/** Pages by the names under which they are cited, such as `calls`, `engine`, `law`. */
export function readPages(): Map<string, Page> {
  const pages = new Map<string, Page>()
  for (const file of globSync("docs/contracts/*.md", { cwd: root })) {
    const name = path.basename(file, ".md")
    if (name !== "README")
      pages.set(
        nameOf(name),
        sectionsOf(file, (line) => heading.exec(line)?.[1]),
      )
  }
  for (const kind of ["Law", "Security"]) {
    const numberOf = (line: string) => lawsHeading.exec(line)?.slice(1)
    const numbers = sectionsOf("docs/laws.md", (line) => {
      const [found, number] = numberOf(line) ?? []
      return found === kind ? number : undefined
    })
    pages.set(kind.toLowerCase(), numbers)
  }
  return pages
}

/** The short name of a page: `evaluation-store-calls` is also cited as `calls`. */
export function nameOf(page: string): string {
  return page.replace(/^evaluation-store-/, "").replace(/^laws$/, "law")
}

function sectionsOf(file: string, numberOf: (line: string) => string | undefined): Page {
  const page: Page = new Map()
  let section: Section | undefined
  for (const line of readFileSync(path.join(root, file), "utf8").split("\n")) {
    const number = numberOf(line)
    if (number !== undefined) page.set(number, (section = { points: new Set(), rows: new Set() }))
    else if (line.startsWith("#")) section = undefined
    const point = /^(\d+)\. /.exec(line)?.[1]
    if (point !== undefined) section?.points.add(point)
    const row = /^\| (\d+) \|/.exec(line)?.[1]
    if (row !== undefined) section?.rows.add(row)
  }
  return page
}

/** Numbers of the sections that have no parts. */
export function leaves(page: Page): string[] {
  const numbers = [...page.keys()]
  return numbers.filter((number) => !numbers.some((other) => other.startsWith(`${number}.`)))
}
