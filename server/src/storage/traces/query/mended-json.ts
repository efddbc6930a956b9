/**
 * JSON that ClickHouse's reader refuses, made readable; in SQL. It refuses a whole text for one lone surrogate, one whole
 * number of more than 64 bits, or one number that no double holds.
 */
import { sqlLiteral } from "../store/sql-literal.ts"

/** Pairs and escaped backslashes stay, surrogates that stand alone go. */
const loneSurrogates = String.raw`(\\[^u]|\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|\\u[dD][89a-fA-F]..`

/** A string, or what stands between two of them. */
const pieces = String.raw`"(?:[^"\\]|\\.)*"|[^"]+`

/**
 * Numbers that a double may not hold: with an exponent from 290 on; of 20 digits and an exponent; of 309 digits. Some of
 * them it does hold.
 */
const vastNumbers = String.raw`([:\[,\s])(${[
  String.raw`-?\d+(?:\.\d+)?[eE]\+?0*(?:[1-9]\d{3,}|[3-9]\d\d|29\d)`,
  String.raw`-?\d{20,}(?:\.\d+)?[eE]\+?0*[1-9]\d*`,
  String.raw`-?\d{309,}(?:\.\d+)?(?:[eE][+-]?\d+)?`,
].join("|")})`

/** Of more than 64 bits, or nearly. */
const wideNumbers = String.raw`([:\[,\s](?:-?\d{20,}|-9(?:22[3-9]|2[3-9]\d|[3-9]\d\d)\d{15}))([^.\deE])`

/** No text without this has a vast or a wide number. */
const longNumber = String.raw`\d{19}|[eE]\+?\d{3}`

const replaced = (text: string, pattern: string, by: string) =>
  `replaceRegexpAll(${text}, ${sqlLiteral(pattern)}, ${sqlLiteral(by)})`
const hasLongNumber = (text: string) => `match(${text}, ${sqlLiteral(longNumber)})`

/** SQL: the JSON text without what ClickHouse's reader refuses in it. `text`: SQL, may be null. */
export function mendedJson(text: string): string {
  return replaced(mendedNumbers(`ifNull(${text}, '')`), loneSurrogates, String.raw`\1`)
}

/**
 * SQL: the JSON text, in which whole numbers of more than 64 bits are doubles, and those that no double holds are texts, which
 * compare as they are spelled. Strings stay as they are.
 */
export function mendedNumbers(text: string): string {
  const texts = replaced("piece", vastNumbers, String.raw`\1"\2"`)
  // With an exponent a number is read as a double. Twice, since neighbours in a list share their comma.
  const doubles = (json: string) => replaced(json, wideNumbers, String.raw`\1e0\2`)
  const isString = `startsWith(piece, '"')`
  const mended = `if(${isString} or not ${hasLongNumber("piece")}, piece, ${doubles(doubles(texts))})`
  const inPieces = `arrayMap(piece -> ${mended}, extractAll(${text}, ${sqlLiteral(pieces)}))`
  return `if(${hasLongNumber(text)}, arrayStringConcat(${inPieces}), ${text})`
}
