import { expect, test } from "vitest"
import { attributeTree, jsonOfNode, rawForm, readForm } from "../spans/attribute-tree.ts"
import { jsonOfEntries, type KeyValue } from "./any-value.ts"
import { spansOf, traceBody } from "./otlp-encoding.ts"
import type { ResourceSpans } from "../trace-request.ts"

const protobuf = "application/x-protobuf"

function decodeTraceRequest(bytes: Buffer, contentType: string): ResourceSpans[] {
  return spansOf(traceBody(bytes, contentType), { items: 100_000 })
}

/** A field with a length, by hand: tag, length, bytes. */
function field(number: number, bytes: Buffer | string): Buffer {
  const content = Buffer.from(bytes)
  const length: number[] = []
  let rest = content.length
  for (; rest > 127; rest >>= 7) length.push((rest & 127) | 128)
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length, rest]), content])
}

const span = (...fields: Buffer[]) => field(1, field(2, field(2, Buffer.concat(fields))))
const attribute = (key: string, value: Buffer) => field(9, Buffer.concat([field(1, key), field(2, value)]))

function attributesOf(bytes: Buffer, contentType = protobuf): KeyValue[] {
  return decodeTraceRequest(bytes, contentType)[0]?.scopeSpans[0]?.spans[0]?.attributes ?? []
}

const fromJson = (value: object) =>
  attributesOf(
    Buffer.from(
      JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ attributes: [{ key: "k", value }] }] }] }] }),
    ),
    "application/json",
  )

test("calls 8: values of protobuf keep what they are", () => {
  const minusOne = Buffer.from([0x18, ...Array<number>(9).fill(0xff), 0x01])
  const largest = Buffer.from([0x18, ...Array<number>(8).fill(0xff), 0x7f])
  const one = Buffer.from([0x21, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f])
  const notANumber = Buffer.from([0x21, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f])
  const nested = field(6, field(1, Buffer.concat([field(1, "in"), field(2, field(5, field(1, field(1, "deep"))))])))
  const attributes = attributesOf(
    span(
      attribute("text", field(1, "é\0")),
      attribute("minus", minusOne),
      attribute("large", largest),
      attribute("one", one),
      attribute("nan", notANumber),
      attribute("yes", Buffer.from([0x10, 1])),
      attribute("bytes", field(7, Buffer.from([1, 2, 255]))),
      attribute("nested", nested),
      attribute("nothing", Buffer.alloc(0)),
    ),
  )
  expect(jsonOfEntries(attributes)).toBe(
    '{"text":"é\\u0000","minus":-1,"large":9223372036854775807,"one":1.0,"nan":"NaN","yes":true,"bytes":"AQL/","nested":{"in":["deep"]},"nothing":null}',
  )
})

test("calls 8: values of OTLP/JSON keep what they are", () => {
  const read = (value: object) => jsonOfEntries(fromJson(value))
  expect(read({ intValue: "9223372036854775807" })).toBe('{"k":9223372036854775807}')
  expect(read({ int_value: 5 })).toBe('{"k":5}')
  expect(read({ doubleValue: 1 })).toBe('{"k":1.0}')
  expect(read({ doubleValue: "-Infinity" })).toBe('{"k":"-Infinity"}')
  expect(read({ kvlistValue: { values: [{ key: "__proto__", value: { boolValue: true } }] } })).toBe(
    '{"k":{"__proto__":true}}',
  )
  expect(read({ arrayValue: { values: [{ bytesValue: "AQL/" }, {}] } })).toBe('{"k":["AQL/",null]}')
  const exact =
    '{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"k","value":{"intValue":9007199254740993}}]}]}]}]}'
  expect(jsonOfEntries(attributesOf(Buffer.from(exact), "application/json; charset=utf-8"))).toBe(
    '{"k":9007199254740993}',
  )
})

test.each([
  ["a length past the end", Buffer.from([0x0a, 0x05, 0x01])],
  ["a length past the end of its message", field(1, Buffer.from([0x12, 0x7f]))],
  ["a number without an end", Buffer.from([0x0a, ...Array<number>(11).fill(0xff)])],
  ["field 0", Buffer.from([0x02, 0x00])],
  ["a group", Buffer.from([0x0b])],
  ["half a fixed number", span(Buffer.from([0x39, 1, 2]))],
])("calls 8: %s is no message", (_what, bytes) => {
  expect(() => decodeTraceRequest(bytes, protobuf)).toThrow(/not an OTLP message: .* \(at byte \d+\)/)
})

test("calls 8: values that are nested too deep, and too many of them, are refused before they cost anything", () => {
  let value = field(1, "end")
  for (let depth = 0; depth < 49; depth++) value = field(5, field(1, value))
  expect(() => attributesOf(span(attribute("k", value)))).toThrow("more than 48 levels")
  const empty = Buffer.alloc(4_000_002 * 2, Buffer.from([0x4a, 0x00]))
  expect(() => attributesOf(span(empty))).toThrow("more than 2000000 spans, attributes and events")
  const spans = Buffer.alloc(200_002, Buffer.from([0x12, 0x00]))
  expect(() => decodeTraceRequest(field(1, field(2, spans)), protobuf)).toThrow("more than 100000 spans")
})

test("calls 8: a wrong value of OTLP/JSON is named with its place", () => {
  expect(() => fromJson({ intValue: "12.5" })).toThrow(
    'resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value.intValue is "12.5"; it must be an integer',
  )
  expect(() => fromJson({ intValue: "18446744073709551616" })).toThrow("integer of 64 bits")
  expect(() => decodeTraceRequest(Buffer.from("[]"), "application/json")).toThrow(
    "the request body is []; it must be an object",
  )
  expect(() => decodeTraceRequest(Buffer.from("{}"), "text/plain")).toThrow(
    'Content-Type "text/plain" is not supported',
  )
})

test("calls 8: names with dots are nested, and none of them reaches a prototype", () => {
  const tree = (...names: string[]) =>
    jsonOfNode(attributeTree(names.map((key, index) => ({ key, value: BigInt(index) }))), rawForm)
  expect(tree("a.b.c", "a.b.d", "e")).toBe('{"a":{"b":{"c":0,"d":1}},"e":2}')
  expect(tree("__proto__.polluted", "constructor.prototype.polluted", "a.__proto__")).toBe(
    '{"__proto__":{"polluted":0},"constructor":{"prototype":{"polluted":1}},"a":{"__proto__":2}}',
  )
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
  expect(tree("a", "a.b", "a.b.c")).toBe('{"a":0,"a.b":1,"a.b.c":2}')
  expect(tree("a.b.c", "a.b", "a")).toBe('{"a":2,"a.b":1,"a.b.c":0}')
  expect(tree("", ".", "a..b")).toBe('{"":0,".":1,"a":{"":{"b":2}}}')
  expect(tree("x.".repeat(1000))).toContain(`"${"x.".repeat(1000 - 31)}":0`)
})

test("calls 8: numbers in names make arrays where users read them, however large they are", () => {
  const read = (attributes: Record<string, string>) =>
    jsonOfNode(attributeTree(Object.entries(attributes).map(([key, value]) => ({ key, value }))), readForm)
  expect(read({ "m.10.role": "b", "m.2.role": "a", "m.1000000000.role": "c" })).toBe(
    '{"m":[{"role":"a"},{"role":"b"},{"role":"c"}]}',
  )
  expect(read({ "m.0": "a", "m.x": "b" })).toBe('{"m":{"0":"a","x":"b"}}')
  expect(read({ m: '{"a":1.0,"n":NaN}', n: "{no", o: "[1] x", p: '"text"' })).toBe(
    '{"m":{"a":1.0,"n":null},"n":"{no","o":"[1] x","p":"\\"text\\""}',
  )
})
