/** The query language over one row of JSON, each expectation worked by hand. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { parseExact } from "../../../json/exact-json.ts"
import { query } from "../../../wire/queries/query.ts"
import { jsonValue } from "./json-value.ts"
import { openTraces } from "../open-traces.ts"
import { compileCondition, type QueryScope } from "./query-condition.ts"
import { SqlParameters } from "./sql-parameters.ts"
import { listValue, mapValue, numberValue, splitPath, textValue, timeValue } from "./sql-value.ts"
import type { TraceStore } from "../store/trace-store.ts"

let folder: string
let traces: TraceStore

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "heddle-query-"))
  traces = await openTraces({ clickhouseUrl: process.env["HEDDLE_TEST_CLICKHOUSE_URL"] ?? null, folder })
})
afterAll(async () => {
  await traces.close()
  await rm(folder, { recursive: true, force: true })
})

const document = String.raw`{"one":1.0,"half":0.5,"text":"abc","digits":"10","none":null,"yes":true,"no":false,
  "yesText":"true","big":9007199254740993,"wide":18446744073709551615,"deep":{"score":-2.5,"dot.key":"d","q\"k":"q","ключ":"u"},
  "list":[10,{"k":"in list"},["x"]],"numbered":{"0":"zero","vast":1e20},"unbounded":"inf","undefined":"nan","empty":"","object":{},"when":"2026-01-02T03:04:05Z",
  "nested":"{\"a\": 1}","emoji":"😀\u2028","spelled":"H\u0065llo there"}`

const columns = `
  cast({document:String}, 'Nullable(String)') as doc,
  cast('name', 'Nullable(String)') as name,
  cast(NULL, 'Nullable(String)') as absent,
  cast(7, 'Nullable(Int64)') as step,
  toDateTime64('2026-01-02 03:04:05.123456', 6, 'UTC') as started_at,
  ['red', 'Green'] as tags,
  map('helpful', 0.5) as ratings`

function fieldsOf(parameters: SqlParameters): QueryScope {
  const field = (name: string) => {
    const [head = "", ...rest] = splitPath(name)
    if (head === "doc") return jsonValue("doc", rest, parameters)
    if (head === "name" || head === "absent") return textValue(head)
    if (head === "step") return numberValue("step")
    if (head === "started_at") return timeValue("started_at")
    if (head === "ratings") return mapValue("ratings", rest.join("."), "number", parameters)
    return listValue("tags")
  }
  return { field, parameters }
}

/** true, false, or null for unknown. */
async function evaluate(expression: unknown, exactUnknown = true): Promise<boolean | null> {
  const text = typeof expression === "string" ? expression : JSON.stringify(expression)
  const parameters = new SqlParameters()
  const condition = compileCondition(query.parse({ $expr: parseExact(text) }).$expr, {
    ...fieldsOf(parameters),
    exactUnknown,
  })
  const values = { ...parameters.values, document: `[${document}]` }
  const rows = await traces.rows<{ yes: boolean | null }>(
    `select cast(${condition}, 'Nullable(Bool)') as yes from (select ${columns})`,
    values,
  )
  return rows[0]?.yes ?? null
}

const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const compare = (operator: string, name: string, value: unknown) => ({ [operator]: [field(name), literal(value)] })
const convert = (name: string, to: string) => ({ $convert: { input: field(name), to } })

describe("calls 3.6: a comparison takes the type of its literal", () => {
  test.each([
    ["$eq", "doc.one", 1, true],
    ["$eq", "doc.half", 0.5, true],
    ["$gt", "doc.deep.score", -3, true],
    ["$lt", "doc.deep.score", -3, false],
    ["$gte", "doc.one", 1, true],
    ["$lte", "doc.one", 0, false],
    ["$eq", "doc.text", "abc", true],
    ["$eq", "doc.digits", 10, true],
    ["$gt", "doc.digits", 9, true],
    ["$gt", "doc.digits", "9", false],
    ["$eq", "doc.text", 0, null],
    ["$eq", "doc.yes", true, true],
    ["$eq", "doc.no", true, false],
    ["$eq", "doc.yes", "true", true],
    ["$eq", "doc.no", "false", true],
    ["$eq", "doc.yesText", true, true],
    ["$eq", "doc.one", true, true],
    ["$eq", "doc.text", true, null],
    ["$eq", "doc.empty", "", true],
    ["$eq", "doc.nowhere", "", null],
    ["$eq", "doc.deep", "x", false],
    ["$eq", "doc.emoji", "😀\u2028", true],
    ["$eq", "doc.nested", '{"a": 1}', true],
    ["$eq", "doc.nested.a", 1, null],
    ["$eq", "name", "name", true],
    ["$eq", "step", 7, true],
    ["$gt", "step", "6", true],
    ["$eq", "ratings.helpful", 0.5, true],
    ["$eq", "ratings.other", 0, null],
  ])("%s %s %j is %j", async (operator, name, value, expected) => {
    expect(await evaluate(compare(operator, name, value))).toBe(expected)
  })

  test("whole numbers past 2^53 are compared exactly", async () => {
    const equal = (name: string, number: string) => evaluate(`{"$eq":[{"$getField":"${name}"},{"$literal":${number}}]}`)
    expect(await equal("doc.big", "9007199254740993")).toBe(true)
    expect(await equal("doc.big", "9007199254740992")).toBe(false)
    expect(await equal("doc.wide", "18446744073709551615")).toBe(true)
    expect(await equal("doc.wide", "18446744073709551614")).toBe(false)
    expect(await equal("doc.one", "1.0")).toBe(true)
    expect(await evaluate('{"$lt":[{"$getField":"doc.half"},{"$literal":9007199254740993}]}')).toBe(true)
    for (const to of ["int", "double"]) {
      const big = JSON.stringify(convert("doc.big", to))
      const is = (number: string) => evaluate(`{"$eq":[${big},{"$literal":${number}}]}`)
      expect([await is("9007199254740993"), await is("9007199254740992")]).toEqual([true, false])
    }
    expect(await evaluate({ $lt: [convert("started_at", "double"), convert("started_at", "int")] })).toBe(false)
    expect(await evaluate({ $gt: [convert("started_at", "double"), convert("started_at", "int")] })).toBe(true)
  })
})

describe("calls 3.6: paths", () => {
  test.each([
    [String.raw`doc.deep.dot\.key`, "d"],
    ['doc.deep.q"k', "q"],
    ["doc.deep.ключ", "u"],
    ["doc.list.0", "10"],
    ["doc.list.1.k", "in list"],
    ["doc.list.2.0", "x"],
    ["doc.numbered.0", "zero"],
  ])("%s", async (name, expected) => {
    expect(await evaluate(compare("$eq", name, expected))).toBe(true)
  })

  test("a whole number past 64 bits is compared exactly", async () => {
    const vast = (number: string) => `{"$eq":[{"$getField":"doc.numbered.vast"},{"$literal":${number}}]}`
    expect(await evaluate(vast("1e20"))).toBe(true)
    expect(await evaluate(vast("100000000000000000000"))).toBe(true)
    expect(await evaluate(vast("100000000000000000001"))).toBe(false)
  })

  test("the texts inf and nan are no numbers", async () => {
    expect(await evaluate(compare("$gt", "doc.unbounded", 0))).toBeNull()
    expect(await evaluate(compare("$gt", "doc.undefined", 0))).toBeNull()
    expect(await evaluate(compare("$eq", "doc.unbounded", "inf"))).toBe(true)
  })

  test("past the end of a list, into text, by a member's position: missing", async () => {
    for (const name of ["doc.list.9", "doc.text.0", "doc.deep.0", "doc.list.k", "doc.one.a"]) {
      expect(await evaluate(compare("$eq", name, "x"))).toBeNull()
    }
  })

  test("quotes and placeholders in a path or literal stay text", async () => {
    for (const text of ["' or 1=1 --", "{p0:String}", "\\", "\0", "{document:String}"]) {
      expect(await evaluate(compare("$eq", `doc.${text.replaceAll(".", "\\.")}`, text))).toBeNull()
      expect(await evaluate(compare("$eq", "doc.text", text))).toBe(false)
    }
  })
})

describe("calls 3.6: three-valued logic", () => {
  const missing = compare("$eq", "doc.nowhere", "x")
  const holds = compare("$eq", "name", "name")

  test("a comparison with a missing value is unknown, and its $not too", async () => {
    expect(await evaluate(missing)).toBeNull()
    expect(await evaluate({ $not: [missing] })).toBeNull()
    expect(await evaluate({ $and: [missing, holds] })).toBeNull()
    expect(await evaluate({ $or: [missing, holds] })).toBe(true)
    expect(await evaluate({ $and: [missing, { $not: [holds] }] })).toBe(false)
    expect(await evaluate(compare("$gt", "absent", 1))).toBeNull()
  })

  test("$eq with null asks for null or missing", async () => {
    for (const name of ["doc.none", "doc.nowhere", "absent"]) {
      expect(await evaluate(compare("$eq", name, null))).toBe(true)
      expect(await evaluate({ $not: [compare("$eq", name, null)] })).toBe(false)
    }
    for (const name of ["doc.empty", "doc.object", "doc.no", "name", "started_at", "tags"]) {
      expect(await evaluate(compare("$eq", name, null))).toBe(false)
    }
    expect(await evaluate(compare("$gt", "doc.one", null))).toBeNull()
  })

  test("one operand stands for itself, booleans are operations", async () => {
    expect(await evaluate({ $and: [literal(true)] })).toBe(true)
    expect(await evaluate({ $or: [field("doc.yes")] })).toBe(true)
    expect(await evaluate({ $eq: [holds, literal(true)] })).toBe(true)
  })
})

describe("calls 3.6: $in, $contains, $size, $convert", () => {
  const among = (name: string, ...values: unknown[]) => ({ $in: [field(name), values.map(literal)] })
  const contains = (name: string, substr: string, caseInsensitive = false) => ({
    $contains: { input: field(name), substr: literal(substr), case_insensitive: caseInsensitive },
  })

  test.each([
    [among("name", "x", "name"), true],
    [among("doc.text", "abc"), true],
    [among("doc.one", 2, 1), true],
    [among("doc.one", 2, 3), false],
    [among("doc.text", "x", 1), null],
    [among("name", null, "name"), true],
    [among("name", null), false],
    [among("name"), false],
    [among("doc.nowhere", "x"), null],
    [contains("doc.text", "bc"), true],
    [contains("doc.text", "BC"), false],
    [contains("doc.text", "BC", true), true],
    [contains("doc.deep.ключ", "U", true), true],
    // Long enough to be looked for in the whole text first, whose escapes may stand for any letter.
    [contains("doc.deep", "DOT.KEY", true), true],
    [contains("doc.spelled", "HELLO THERE", true), true],
    [contains("doc.text", "IN LIST", true), false],
    [contains("doc.nowhere", "IN LIST", true), null],
    [contains("doc.list", "in list"), true],
    [contains("doc.text", "%"), false],
    [contains("doc.nowhere", "x"), null],
    [contains("tags", "red"), true],
    [contains("tags", "re"), false],
    [contains("tags", "green"), false],
    [contains("tags", "green", true), true],
    [compare("$eq", "tags", "red"), true],
    [{ $eq: [literal("red"), field("tags")] }, true],
    [{ $eq: [literal("blue"), field("tags")] }, false],
    [{ $in: [field("tags"), [literal("blue"), literal("Green")]] }, true],
    [{ $eq: [{ $size: field("doc.list") }, literal(3)] }, true],
    [{ $eq: [{ $size: field("doc.deep") }, literal(4)] }, true],
    [{ $eq: [{ $size: field("doc.emoji") }, literal(2)] }, true],
    [{ $eq: [{ $size: field("tags") }, literal(2)] }, true],
    [{ $eq: [{ $size: field("doc.nowhere") }, literal(0)] }, null],
    [{ $eq: [convert("doc.none", "exists"), literal(true)] }, false],
    [{ $eq: [convert("doc.empty", "exists"), literal(true)] }, true],
    [{ $not: [convert("doc.nowhere", "exists")] }, true],
    [{ $gt: [convert("doc.digits", "int"), literal(9)] }, true],
    [{ $eq: [convert("doc.text", "double"), literal(0)] }, null],
    [{ $eq: [convert("doc.one", "string"), literal("1")] }, true],
    [{ $eq: [convert("doc.yes", "bool"), literal(true)] }, true],
    [{ $eq: [convert("doc.deep.score", "int"), literal(-2)] }, true],
    [{ $gt: [field("doc.digits"), field("doc.one")] }, true],
    [{ $eq: [field("doc.text"), field("name")] }, false],
  ])("%j is %j", async (expression, expected) => {
    expect(await evaluate(expression)).toBe(expected)
    expect((await evaluate(expression, false)) ?? false).toBe(expected ?? false)
  })

  test("a search ahead of the exact test loses nothing that is spelled with escapes, and nothing under $not", async () => {
    const escaped = contains("doc.spelled", "Hello")
    expect(await evaluate(escaped, false)).toBe(true)
    expect(await evaluate(compare("$eq", "doc.spelled", "Hello there"), false)).toBe(true)
    expect(await evaluate({ $not: [contains("doc.nowhere", "Hello")] }, false)).toBeNull()
    expect(await evaluate({ $not: [contains("doc.text", "Hello")] }, false)).toBe(true)
    expect(await evaluate({ $eq: [contains("doc.nowhere", "Hello"), literal(false)] }, false)).toBeNull()
  })
})

describe("calls 3.6: times", () => {
  test.each([
    ["$eq", 1_767_323_045.123456, true],
    ["$gt", 1_767_323_045, true],
    ["$gte", "2026-01-02T03:04:05.123456Z", true],
    ["$gt", "2026-01-02T03:04:05.123456Z", false],
    ["$eq", "2026-01-02 04:04:05.123456+01:00", true],
    ["$lt", "2026-01-03", true],
    ["$gt", "1767323045", true],
  ])("%s %j is %j", async (operator, value, expected) => {
    expect(await evaluate(compare(operator, "started_at", value))).toBe(expected)
  })

  test("against JSON text and as a number", async () => {
    expect(await evaluate({ $gt: [field("started_at"), field("doc.when")] })).toBe(true)
    expect(await evaluate({ $gt: [convert("started_at", "double"), literal(1_767_323_045)] })).toBe(true)
  })
})

describe("calls 3.6: text that ClickHouse's own reader refuses", () => {
  const parameters = new SqlParameters()
  const value = (...path: string[]) => jsonValue("doc", path, parameters)
  const select = (json: string, expression: string) =>
    traces.rows<{ v: unknown }>(
      `select ${expression} as v from (select cast({doc:String}, 'Nullable(String)') as doc)`,
      { ...parameters.values, doc: `[${json}]` },
    )

  test.each([
    [String.raw`{"lone":"x\ud800y","a":7,"pair":"\ud83d\ude00"}`, 7],
    ['{"big":123456789012345678901234567890,"a":7}', 7],
    ['{"bigs":[-123456789012345678901234567890, 123456789012345678901234567890],"a":7}', 7],
    ['{"a":123456789012345678901234567890}', 1.2345678901234568e29],
    [String.raw`{"text":"\\ud800","a":7.5}`, 7.5],
    ['{"low":-9223372036854775809,"lows":[-9223372036854775809,-9999999999999999999],"a":7}', 7],
    ['{"vast":[1e309,-1.8E+308, 0.1e310,2e00999,123456789012345678901e300,1e2900],"a":7}', 7],
    ['{"vast":1e309,"a":1.7e308}', 1.7e308],
    ['{"vast":1e309,"a":0.12345678901234567890123e2}', 12.345678901234567],
    ['{"vast":1e309,"a":-8123456789012345678}', -8.123456789012346e18],
  ])("%s", async (json, expected) => {
    expect(await select(json, value("a").as("number"))).toEqual([{ v: expected }])
    expect(await select(json, value("a").exists)).toEqual([{ v: 1 }])
    expect(await select(json, value("a", "1").as("text"))).toEqual([{ v: null }])
  })

  test("whole numbers and fractions of hundreds of digits", async () => {
    const digits = (count: number) => "9".repeat(count)
    const json = `{"modulus":${digits(617)},"list":[${digits(309)},-${digits(400)}.5, 1${"0".repeat(308)}],"a":7}`
    expect(await select(json, value("a").as("number"))).toEqual([{ v: 7 }])
    expect(await select(json, value("list", "2").as("number"))).toEqual([{ v: 1e308 }])
  })

  test("a number that no double holds is there, as it is spelled", async () => {
    for (const number of ["1e309", "9".repeat(617), "-1.5e+0400"]) {
      const json = `{"a":${number}}`
      expect(await select(json, value("a").as("text"))).toEqual([{ v: number }])
      expect(await select(json, value("a").as("number"))).toEqual([{ v: null }])
      expect(await select(json, value("a").exists)).toEqual([{ v: 1 }])
    }
  })

  test("whole numbers of 64 bits keep their digits, and strings all that is in them, beside such a number", async () => {
    const text = String.raw`[1e309, 123456789012345678901, ${"9".repeat(310)}] \" : 1e400, \\`
    const strings = Array.from({ length: 2_000 }, () => '"x"').join(",")
    const json = `{"vast":1e309,"many":[${strings}],"a":-8123456789012345678,"text":"${text}"}`
    expect(await select(json, value("a").as("text"))).toEqual([{ v: "-8123456789012345678" }])
    expect(await select(json, value("text").as("text"))).toEqual([{ v: JSON.parse(`"${text}"`) }])
  })
})

describe("calls 3.6: what means nothing is refused with the reason", () => {
  test.each([
    [{ $and: [] }, "Empty AND operation"],
    [{ $or: [] }, "Empty OR operation"],
    [compare("$eq", "doc.list", [1]), "a $literal that is a list cannot be compared"],
    [compare("$eq", "doc.object", {}), "a $literal that is an object cannot be compared"],
    [compare("$gt", "started_at", "yesterday"), '"yesterday" is not a time'],
    [compare("$gt", "started_at", "1e400"), '"1e400" is not a time'],
    [compare("$gt", "started_at", "1e30"), '"1e30" is not a time'],
    [compare("$gt", "started_at", 1e30), "1e+30 is not a time"],
    [compare("$eq", "doc..a", 1), 'Field "doc..a" has an empty part'],
  ])("%j", async (expression, message) => {
    await expect(evaluate(expression)).rejects.toThrow(message)
  })

  test("an expression that grows without end", async () => {
    let expression: unknown = field("doc.big")
    for (let depth = 0; depth < 60; depth += 1) expression = { $eq: [expression, { $literal: 0 }] }
    const text = JSON.stringify(expression).replaceAll('"$literal":0', '"$literal":9007199254740993')
    await expect(evaluate(text)).rejects.toThrow("too complex")
  })
})

describe("objects 11: the shape of a query", () => {
  test.each([
    [{ $expr: { $eq: [field("a")] } }, ["$expr", "$eq"]],
    [{ $expr: { $eq: [field("a"), { $foo: 1 }] } }, ["$expr", "$eq", 1]],
    [{ $expr: { $not: [] } }, ["$expr", "$not"]],
    [{ $expr: { $and: [{ $literal: 1, $getField: "a" }] } }, ["$expr", "$and", 0]],
    [{ $expr: { $contains: { input: field("a") } } }, ["$expr", "$contains", "substr"]],
    [{ $expr: field("a") }, ["$expr"]],
    [{ $expr: { $not: [literal(true)] }, more: 1 }, []],
    [{}, ["$expr"]],
  ])("%j is refused at %j", (value, place) => {
    expect(query.safeParse(value).error?.issues[0]?.path).toEqual(place)
  })
})
