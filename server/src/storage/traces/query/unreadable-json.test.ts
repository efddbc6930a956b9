/** What the scanner marks as unreadable is what ClickHouse's JSON reader refuses: the two must agree. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { newClickHouseUrl } from "../../../../test/support/clickhouse-database.ts"
import { holdsUnreadable } from "../../../../test/support/unreadable-json.ts"
import { connectTraces } from "../open-traces.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { seededBelow } from "../../../../test/support/seeded-random.ts"

let folder: string
let traces: TraceStore
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-unreadable-"))
  traces = await connectTraces({ clickhouseUrl: newClickHouseUrl(), folder })
})
afterAll(async () => {
  await traces.close()
  await rm(folder, { recursive: true, force: true })
})

/** For each text, whether ClickHouse refuses it as a payload column's value. */
async function refused(texts: readonly string[]): Promise<boolean[]> {
  const sql =
    "select not isValidJSON(concat('[', text, ']')) as refused from (select arrayJoin({texts:Array(String)}) as text)"
  const rows = await traces.rows<{ refused: number }>(sql, { texts })
  return rows.map((row) => Boolean(row.refused))
}

const numbers = [
  "0",
  "-0",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551615",
  "18446744073709551616",
  "-9223372036854775808",
  "-9223372036854775809",
  "99999999999999999999",
  "100000000000000000000",
  "12345678901234567",
  "1e308",
  "1e309",
  "-1e309",
  "1.8e308",
  "0.1e310",
  "0e999",
  "1e-400",
  "18446744073709551616.5",
  "18446744073709551616e0",
  `1${"0".repeat(308)}`,
  `1${"0".repeat(308)}.0`,
  `1${"0".repeat(309)}.0`,
  `0.${"0".repeat(400)}1`,
]
const strings = [
  "\\ud83d\\ude00",
  "\\uD83D\\uDE00",
  "\\ud83d",
  "\\ude00",
  "\\ud83dx",
  "\\ud83d\\u0041",
  "\\\\ud83d",
  "\\\\\\ude00",
  "\\ude00\\ud83d",
  "\\ud83d\\ud83d\\ude00",
  "\\u0000",
  "\\udbff\\udfff",
  "\\ud7ff",
  "\\ue000",
  "\\\\ud83d\\ude00",
  "\\ud83d\\\\ude00",
  "😀",
  "\\/",
  "",
]

test("numbers and strings at the edges", async () => {
  const texts = [...numbers, ...strings.map((text) => `"${text}"`), ...strings.map((text) => `{"${text}":[]}`)]
  const wrong = (await refused(texts)).flatMap((isRefused, at) =>
    isRefused === holdsUnreadable(texts[at] ?? "") ? [] : [texts[at]],
  )
  expect(wrong).toEqual([])
  expect(texts.filter(holdsUnreadable).length).toBeGreaterThan(20)
})

test("random documents of such pieces", async () => {
  const random = seededBelow(20_261_121)
  const pick = (list: readonly string[]) => list[random(list.length)] as string
  const value = (depth: number): string => {
    const kind = random(depth > 3 ? 3 : 5)
    if (kind === 0) return pick(numbers)
    if (kind < 3) return `"${Array.from({ length: random(4) }, () => pick(strings)).join("")}"`
    const members = Array.from({ length: random(4) }, () => value(depth + 1))
    return kind === 3 ? `[${members.join(", ")}]` : `{${members.map((one) => `"${pick(strings)}" : ${one}`).join(",")}}`
  }
  const texts = Array.from({ length: 4000 }, () => value(0))
  const wrong = (await refused(texts)).flatMap((isRefused, at) =>
    isRefused === holdsUnreadable(texts[at] ?? "") ? [] : [texts[at]],
  )
  expect(wrong).toEqual([])
  const marked = texts.filter(holdsUnreadable).length
  expect(marked).toBeGreaterThan(500)
  expect(marked).toBeLessThan(3500)
})
