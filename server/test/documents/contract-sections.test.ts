/**
 * Every citation in code, tests, pages and requirements leads to a heading in `docs/contracts` or `docs/laws.md`, or to a
 * file that is there, and every section there is cited by a test, or has a reason in `docs/contracts/README.md` for being
 * cited by none.
 */
import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"
import { citationsIn, faultOf } from "../support/citations.ts"
import { leaves, readPages, root } from "../support/contract-pages.ts"

const folders = "{bench,compat,docs,engine,examples,scripts,server,web}"
const sources = `${folders}/**/*.{ts,tsx,mjs,js,py,md,css,html,jinja,toml}`
const tests = [`${folders}/**/{*.test.ts,*.test.tsx,*.test.mjs,test_*.py}`, "server/test/support/**/*.ts"]

/** Files that are not searched, because their citations are examples. */
const ownFiles = ["documents/contract-sections.test.ts", "support/citations.ts", "support/contract-pages.ts"]

const pages = readPages()
const texts = new Map(filesOf(sources, "*.md").map((file) => [file, readFileSync(path.join(root, file), "utf8")]))
const requirements = JSON.parse(readFileSync(path.join(root, "compat/requirements.json"), "utf8")) as {
  id: string
  contract: string
}[]

function filesOf(...patterns: string[]): string[] {
  const skipped = (name: string) => name === "node_modules" || name === "dist" || name.startsWith(".")
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root, exclude: (name) => skipped(path.basename(name)) }))
    .filter((file) => !ownFiles.some((own) => file.endsWith(`server/test/${own}`)))
}

test("every page of the wire is there, with sections", () => {
  const names = ["art-0.5.23", "calls", "engine", "inference-api", "law", "objects", "platform-wandb", "security"]
  expect([...pages.keys()].toSorted()).toEqual([...names, "training-api"])
  expect([...pages].filter(([, page]) => page.size === 0)).toEqual([])
  expect([...(pages.get("law")?.keys() ?? [])]).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9"])
})

test("every citation leads to a heading", () => {
  const cited = [...texts].flatMap(([file, text]) => citationsIn(text).map((citation) => ({ file, citation })))
  expect(cited.length).toBeGreaterThan(1_000)
  const faults = cited.flatMap(({ file, citation }) => {
    const fault = faultOf(citation, pages)
    return fault === null ? [] : [`${file}: "${citation.text}": ${fault}`]
  })
  expect(faults).toEqual([])
})

test("every decision that a text names is there", () => {
  const numbers = new Set(globSync("docs/decisions/*.md", { cwd: root }).map((file) => path.basename(file).slice(0, 4)))
  const missing = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/\bdecision (\d{1,4})(?![\d.])/g)]
      .filter(([, number = ""]) => !numbers.has(number.padStart(4, "0")))
      .map(([named]) => `${file}: there is no ${named}`),
  )
  expect(missing).toEqual([])
})

test("a requirement cites sections and nothing else", () => {
  const faults = requirements.flatMap(({ id, contract }) => {
    const citations = citationsIn(contract)
    const rest = citations.reduce((left, { text }) => left.replace(text, ""), contract).replaceAll(", ", "")
    const wrong = citations.flatMap((citation) => faultOf(citation, pages) ?? [])
    return [...wrong, ...(rest === "" ? [] : [`"${rest}" is no citation`])].map((fault) => `${id}: ${fault}`)
  })
  expect(faults).toEqual([])
})

test("no text names a document that is not in the repository", () => {
  const elsewhere =
    /\bshared\/[\w/-]+\.md|\b(?:architecture|security|style|ux|findings|redesign|engine)\.md \d|\b(?:style|ux|seed) \d+(?:\.\d+| and \d)/g
  const found = [...texts].flatMap(([file, text]) => (text.match(elsewhere) ?? []).map((name) => `${file}: ${name}`))
  expect(found).toEqual([])
})

test("a source file that a text names is there", () => {
  const own = ownFiles.map((file) => `server/test/${file}`)
  const files = [...filesOf(sources, "*.{ts,mjs}"), ...own].map((file) => `/${file}`)
  const missing = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|tsx|mjs|css))`/g)]
      .filter(([, name = ""]) => !files.some((one) => one.endsWith(`/${name}`)))
      .map(([, name]) => `${file}: ${name}`),
  )
  expect(missing).toEqual([])
})

test("every section is cited by a test, or stands in the table of those that are not, with a reason", () => {
  const testTexts = [
    ...filesOf(...tests).map((file) => texts.get(file) ?? ""),
    ...requirements.map((one) => one.contract),
  ]
  const cited = sectionsIn(testTexts)
  const uncited = [...pages].flatMap(([name, page]) =>
    leaves(page)
      .map((number) => `${name} ${number}`)
      .filter((section) => !cited.has(section)),
  )
  expect(uncited.toSorted()).toEqual([...sectionsIn(tableOfUncited())].toSorted())
})

/** Sections cited in the cells, as `calls 3.6`; a point of a list counts as its section. */
function sectionsIn(cells: string[]): Set<string> {
  const citations = cells.flatMap((cell) => citationsIn(cell))
  return new Set(
    citations.flatMap(({ page, numbers, furtherNumbers }) =>
      [...numbers, ...furtherNumbers].map((number) => `${page} ${sectionOf(page, number)}`),
    ),
  )
}

function sectionOf(page: string, number: string): string {
  return pages.get(page)?.has(number) === true ? number : (number.split(".", 1)[0] ?? "")
}

/** First cells of the rows that have a reason, in the table of uncited sections. */
function tableOfUncited(): string[] {
  const [, table = ""] = (texts.get("docs/contracts/README.md") ?? "").split("## Sections that no test cites")
  return [...table.matchAll(/^\| (.+?) \| \S.+ \|$/gm)].map(([, sections = ""]) => sections)
}
