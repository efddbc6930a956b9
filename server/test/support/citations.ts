/** Finds citations of the contracts and laws in texts: `calls 3.6`, `laws 1, 2 and 8`, `training-api 3.1 rule 6`. */
import { nameOf, type Page } from "./contract-pages.ts"

export interface Citation {
  /** The citation as it is in the text. */
  text: string
  /** Name of the page, as `readPages` has it. */
  page: string
  /** Each section, and each end of a range. */
  numbers: string[]
  /** Sections that follow a rule or row: `3.1 rule 4, 4.2`. */
  furtherNumbers: string[]
  /** Rules of the last of `numbers`: `rule 4`, `rules 4 and 6`. */
  points: string[]
  /** Rows of the section: `row 7 of training-api 1.1`. */
  rows: string[]
}

const names =
  "laws?|(?:evaluation-store-)?(?:calls|objects)|training-api|inference-api|art-0\\.5\\.23|platform-wandb|engine|security"
/** A number of a section; neither `2.17x` nor the beginning of `2.17` is one. */
const one = "\\d+(?:\\.\\d+)*(?![\\w%]|\\.\\d)"
const list = `${one}(?:(?:, | and |, and | to )${one})*`
/** Numbers of rules and rows, which have no parts: `rule 4, 12.5` goes on with another section. */
const whole = "\\d+(?![\\w%]|\\.\\d)(?:(?:, | and )\\d+(?![\\w%]|\\.\\d))*"
/** Excludes measurements such as `calls 4.2 ms`. */
const noMeasure = "(?! (?:ms|s|µs|ns|MB|GB|MiB|GiB|KiB|kB|×|%)(?!\\w))"
const citation = new RegExp(
  [
    `(?:\\brows? (?<rows>${whole}) of )?`,
    `(?<![\\w./-])(?<page>${names}) (?<numbers>${list})${noMeasure}`,
    `(?: rules? (?<points>${whole}))?(?: rows? (?<later>${whole}))?(?<more>(?:(?:, | and )${one})*)`,
  ].join(""),
  "gi",
)

/** The text with the lines of each comment joined, because a citation may go on in the next line. */
function joined(text: string): string {
  return text.replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/\/?|#:?(?= )|--)?[ \t]*/g, " ")
}

export function citationsIn(text: string): Citation[] {
  return [...joined(text).matchAll(citation)].flatMap((match) => {
    const { page = "", numbers = "", points = "", rows = "", later = "", more = "" } = match.groups ?? {}
    // Names of pages are in lower case; "Calls 3 of them" is prose.
    if (page !== page.toLowerCase()) return []
    return [
      {
        text: match[0],
        page: nameOf(page.replace(/^laws$/, "law")),
        numbers: split(numbers),
        furtherNumbers: split(more),
        points: split(points),
        rows: [...split(rows), ...split(later)],
      },
    ]
  })
}

function split(numbers: string): string[] {
  return numbers.match(new RegExp(one, "g")) ?? []
}

/** The fault of a citation; null when it leads to a section. */
export function faultOf(
  { page: name, numbers, furtherNumbers, points, rows }: Citation,
  pages: Map<string, Page>,
): string | null {
  const page = pages.get(name)
  if (page === undefined) return `there is no page "${name}" in docs/contracts`
  const missing = [...numbers, ...furtherNumbers].find((number) => !page.has(number) && !isPoint(number, page))
  if (missing !== undefined) return `${name} has no section ${missing}`
  const last = page.get(numbers.at(-1) ?? "")
  const point = points.find((number) => last?.points.has(number) !== true)
  if (point !== undefined) return `${name} ${numbers.at(-1)} has no point ${point}`
  const row = rows.find((number) => last?.rows.has(number) !== true)
  return row === undefined ? null : `${name} ${numbers.at(-1)} has no row ${row}`
}

/** True for a number such as `training-api 9.5`, the fifth point of section 9, which has no parts. */
function isPoint(number: string, page: Page): boolean {
  const [section = "", point = "", ...deeper] = number.split(".")
  return deeper.length === 0 && page.get(section)?.points.has(point) === true
}
