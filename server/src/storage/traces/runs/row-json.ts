/** Texts of rows as ClickHouse's own reader of JSON takes them, whatever a program logged; in SQL. */
import { mendedNumbers } from "../query/mended-json.ts"

/** Python writes NaN and Infinity into the JSON of a row, and no reader of JSON takes them: members that have one become null. */
const finite = String.raw`replaceRegexpAll(text, ':\\s*-?(NaN|Infinity)', ':null')`

const become = (json: string, token: string, value: string) =>
  String.raw`replaceRegexpAll(${json}, ':\\s*${token}', ':${value}')`
/** Members become words that are never a number's: null for NaN, true and false for the infinities. */
const worded = become(become(become("text", "NaN", "null"), "Infinity", "true"), "-Infinity", "false")

/** NaN and Infinity in lists become null too, which takes longer. */
const finiteLists = (json: string) => String.raw`replaceRegexpAll(${json}, '([\\[,:]\\s*)-?(NaN|Infinity)', '\\1null')`
/** Without halves of surrogate pairs: ClickHouse reads nothing of JSON that has one. */
const wholePairs = (json: string) => String.raw`replaceRegexpAll(${json}, '\\\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '')`
const readableOf = (json: string) =>
  `if(isValidJSON(${json}), ${json}, ${wholePairs(finiteLists(mendedNumbers(json)))})`

/** The row, without what is no finite number. */
export const readableRow = readableOf(finite)
/** The row, in which {@link notFinite} is told by its word. */
export const wordedRow = readableOf(worded)

/** What the value of a member of {@link wordedRow} stands for, if it was a number that is not finite. */
export const notFinite = { null: "NaN", true: "Infinity", false: "-Infinity" } as const

const mostPaths = 16

/** A column `a.b` is a member of that name, or the member `b` of `a`: every way to read its dots. */
export function pathsOf(column: string): string[][] {
  let paths: string[][] = [[]]
  for (const part of column.split(".")) {
    paths = paths.flatMap((path) => {
      const last = path.at(-1)
      return last === undefined
        ? [[part]]
        : [
            [...path.slice(0, -1), `${last}.${part}`],
            [...path, part],
          ]
    })
    paths = paths.length > mostPaths ? [paths[0] ?? [], paths.at(-1) ?? []] : paths
  }
  return paths
}
