/** Parquet files of other programs, of people who mean harm too. */
import type { FileMetaData, SchemaElement } from "hyparquet"
import { parquetWriteBuffer } from "hyparquet-writer"
import { ByteWriter } from "hyparquet-writer/src/bytewriter.js"
import { writeMetadata } from "hyparquet-writer/src/metadata.js"
import { serializeTCompactProtocol } from "hyparquet-writer/src/thrift.js"
import { readdir } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest"
import { defaultLimits } from "../../src/limits.ts"
import { stretchEnd } from "../../src/transfer/import/parquet-file.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { uuid } from "../support/completed-call.ts"

const mebibyte = 1024 ** 2

let world: EvaluationApp
beforeAll(async () => {
  // So little that a test reaches it before it has taken the memory of the machine.
  world = await openEvaluationApp({ limits: { ...defaultLimits, payload_memory_bytes: 64 * mebibyte } })
})
afterAll(() => world.close())

async function imported(project: string, file: ArrayBuffer | Buffer) {
  const bytes = file instanceof ArrayBuffer ? Buffer.from(file) : file
  const { status, body } = await world.acme.post(`/import/dataset?project_id=${project}&format=parquet`, bytes)
  return { status, body: body as { imported: number; failed: number; table_digest: string; reason: string } }
}

async function exported(body: object): Promise<Buffer> {
  const answer = await world.app.server.inject({
    method: "POST",
    url: "/export/dataset",
    headers: { authorization: `Bearer ${world.acme.key}` },
    payload: body,
  })
  expect(answer.statusCode).toBe(200)
  return answer.rawPayload
}

async function rowsOf(file: ArrayBuffer): Promise<string[]> {
  const project = world.acme.newProject()
  const { status, body } = await imported(project, file)
  expect([status, body]).toEqual([200, expect.objectContaining({ failed: 0 })])
  return (await exported({ project_id: project, table_digest: body.table_digest })).toString().trim().split("\n")
}

describe("decimals", () => {
  const decimal = (name: string, type: SchemaElement["type"], more: Partial<SchemaElement> = {}): SchemaElement => ({
    name,
    ...(type === undefined ? {} : { type }),
    converted_type: "DECIMAL",
    repetition_type: "OPTIONAL",
    precision: 38,
    scale: 2,
    ...more,
  })
  const group = (name: string, num_children: number, more: Partial<SchemaElement> = {}): SchemaElement => ({
    name,
    num_children,
    repetition_type: "OPTIONAL",
    ...more,
  })

  test("come to the last digit, whatever they are stored as", async () => {
    const file = parquetWriteBuffer({
      schema: [
        { name: "schema", num_children: 5 },
        decimal("a", "INT32"),
        decimal("b", "INT64"),
        decimal("c", "FIXED_LEN_BYTE_ARRAY", { type_length: 16, scale: 10 }),
        decimal("d", "BYTE_ARRAY", { scale: 3 }),
        decimal("e", "INT64", { scale: 0 }),
      ],
      columnData: [
        { name: "a", data: [57n, -57n, 500n, null] },
        { name: "b", data: [110n, -1n, 123456789012345678n, 0n] },
        { name: "c", data: [123456789012345678901234567890n, -1n, 57n, null] },
        { name: "d", data: [1_005n, -128n, 255n, 0n] },
        { name: "e", data: [9007199254740993n, -5n, 0n, null] },
      ],
      statistics: false,
    })
    expect(await rowsOf(file)).toEqual([
      '{"a":0.57,"b":1.1,"c":12345678901234567890.123456789,"d":1.005,"e":9007199254740993}',
      '{"a":-0.57,"b":-0.01,"c":-0.0000000001,"d":-0.128,"e":-5}',
      '{"a":5,"b":1234567890123456.78,"c":0.0000000057,"d":0.255,"e":0}',
      '{"b":0,"d":0}',
    ])
  })

  test("come so in lists, maps and structs too", async () => {
    const file = parquetWriteBuffer({
      schema: [
        { name: "schema", num_children: 3 },
        group("list", 1, { converted_type: "LIST" }),
        group("list", 1, { repetition_type: "REPEATED" }),
        decimal("element", "INT64"),
        group("map", 1, { converted_type: "MAP" }),
        group("key_value", 2, { repetition_type: "REPEATED" }),
        { name: "key", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
        decimal("value", "INT32"),
        group("struct", 2),
        decimal("price", "BYTE_ARRAY"),
        { name: "count", type: "INT32", repetition_type: "OPTIONAL" },
      ],
      columnData: [
        { name: "list", data: [[57n, null, 110n], []] },
        { name: "map", data: [{ one: 57n, two: null }, null] },
        {
          name: "struct",
          data: [
            { price: 57n, count: 7 },
            { price: null, count: null },
          ],
        },
      ],
      statistics: false,
    })
    expect(await rowsOf(file)).toEqual([
      '{"list":[0.57,null,1.1],"map":{"one":0.57,"two":null},"struct":{"price":0.57,"count":7}}',
      '{"list":[],"struct":{"price":null,"count":null}}',
    ])
  })

  test("are texts where a call has texts, as of programs that write each number so", async () => {
    const project = world.acme.newProject()
    const file = parquetWriteBuffer({
      schema: [
        { name: "schema", num_children: 7 },
        ...["id", "trace_id", "started_at", "attributes", "inputs"].map((name): SchemaElement => ({
          name,
          type: "BYTE_ARRAY",
          converted_type: "UTF8",
          repetition_type: "OPTIONAL",
        })),
        decimal("op_name", "INT64", { scale: 0 }),
        decimal("wb_run_step", "INT64", { scale: 0 }),
      ],
      columnData: [
        { name: "id", data: [uuid(1)] },
        { name: "trace_id", data: [uuid(2)] },
        { name: "started_at", data: ["2026-01-02T03:04:05Z"] },
        { name: "attributes", data: ["{}"] },
        { name: "inputs", data: ["{}"] },
        { name: "op_name", data: [7n] },
        { name: "wb_run_step", data: [3n] },
      ],
      statistics: false,
    })
    const answer = await world.acme.post(`/import/calls?project_id=${project}&format=parquet`, Buffer.from(file))
    expect(answer.body).toEqual({ imported: 1, failed: 0, errors: [] })
    expect(await world.acme.lines("/calls/stream_query", { project_id: project })).toMatchObject([
      { op_name: "7", wb_run_step: 3 },
    ])
  })

  test("that cannot be decimals: 400", async () => {
    const file = parquetWriteBuffer({
      schema: [{ name: "schema", num_children: 1 }, decimal("a", "INT32", { scale: 100_000 })],
      columnData: [{ name: "a", data: [1n] }],
      statistics: false,
    })
    expect(await imported(world.acme.newProject(), file)).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining('the column "a" cannot be decimals') },
    })
  })
})

/** A file of one row whose only page says that it holds so many whole numbers, each one more than the last: some 200 bytes. */
function countingFile(values: number, bytesInFile?: number): Buffer {
  const page = new ByteWriter()
  // Delta encoding: the size of blocks, their parts, the number of values, the first; then the difference, and no bits.
  for (const number of [values, 1, values]) page.appendVarInt(number)
  for (const number of [0, 1]) page.appendZigZag(number)
  page.appendUint8(0)
  const size = page.getBytes().length
  const file = new ByteWriter()
  file.appendUint32(0x31524150)
  const header = { field_1: values, field_2: 5, field_3: 3, field_4: 3 }
  serializeTCompactProtocol(file, { field_1: 0, field_2: size, field_3: size, field_5: header })
  file.appendBytes(page.getBytes())
  const bytes = BigInt(file.getBytes().length - 4)
  const metadata: FileMetaData = {
    version: 2,
    schema: [
      { name: "schema", num_children: 1 },
      { name: "n", type: "INT32", repetition_type: "REQUIRED" },
    ],
    num_rows: 1n,
    row_groups: [
      {
        columns: [
          {
            file_offset: 0n,
            meta_data: {
              type: "INT32",
              encodings: ["DELTA_BINARY_PACKED"],
              path_in_schema: ["n"],
              codec: "UNCOMPRESSED",
              num_values: 1n,
              total_uncompressed_size: bytes,
              total_compressed_size: bytesInFile === undefined ? bytes : BigInt(bytesInFile),
              data_page_offset: 4n,
            },
          },
        ],
        total_byte_size: bytes,
        num_rows: 1n,
      },
    ],
    metadata_length: 0,
  }
  writeMetadata(file, metadata)
  file.appendUint32(0x31524150)
  return Buffer.from(file.getBytes())
}

describe("law 8: a file that says of itself what is not so", () => {
  test("one that does not is read", async () => {
    expect(await imported(world.acme.newProject(), countingFile(1))).toMatchObject({
      status: 200,
      body: { imported: 1 },
    })
  })

  test("a page of some bytes that stands for a gigabyte takes no gigabyte: 413", async () => {
    expect(await imported(world.acme.newProject(), countingFile(2 ** 28))).toMatchObject({
      status: 413,
      body: { reason: "the request takes more than 64 MiB of memory to be read. Send it in smaller parts" },
    })
  })

  test("columns that are larger than a group of rows may be: 413", async () => {
    expect(await imported(world.acme.newProject(), countingFile(1, 2 ** 31))).toMatchObject({
      status: 413,
      body: { reason: expect.stringContaining(`has 1 rows and ${2 ** 31} bytes in row group 0`) },
    })
  })

  test("more metadata than any file has: 413", async () => {
    const file = Buffer.alloc(65 * mebibyte)
    file.writeUInt32LE(65 * mebibyte - 8, file.length - 8)
    file.write("PAR1", file.length - 4)
    expect(await imported(world.acme.newProject(), file)).toMatchObject({
      status: 413,
      body: { reason: expect.stringContaining("bytes of metadata at its end") },
    })
  })
})

describe("what rows could not hold is refused", () => {
  const column = (name: string) => ({ name, data: ["a"], type: "STRING" as const })

  test.each([
    ["two columns of one name", ["a", "a"], 'two columns of one name, "a"'],
    ["a column with the name of the prototype", ["a", "__proto__"], '"__proto__"; rename it'],
  ])("%s: 400", async (_, names, reason) => {
    const file = parquetWriteBuffer({ columnData: names.map(column) })
    expect(await imported(world.acme.newProject(), file)).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining(reason) },
    })
  })

  test("two fields of one name in a struct, but not of two structs: 400", async () => {
    const schema = (second: string): SchemaElement[] => [
      { name: "schema", num_children: 2 },
      { name: "a", num_children: 1, repetition_type: "REQUIRED" },
      { name: "x", type: "INT32", repetition_type: "REQUIRED" },
      { name: "b", num_children: 2, repetition_type: "REQUIRED" },
      { name: "x", type: "INT32", repetition_type: "REQUIRED" },
      { name: second, type: "INT32", repetition_type: "REQUIRED" },
    ]
    const file = (second: string) =>
      parquetWriteBuffer({
        schema: schema(second),
        columnData: [
          { name: "a", data: [{ x: 1 }] },
          { name: "b", data: [{ x: 2, [second]: 3 }] },
        ],
        statistics: false,
      })
    expect(await rowsOf(file("y"))).toEqual(['{"a":{"x":1},"b":{"x":2,"y":3}}'])
    expect(await imported(world.acme.newProject(), file("x"))).toMatchObject({
      status: 400,
      body: { reason: 'the Parquet file has two columns of one name, "x"; rename it' },
    })
  })

  test("bytes that are not UTF-8 in a column without a type: 400, and the way out", async () => {
    const file = parquetWriteBuffer({
      columnData: [{ name: "picture", data: [Uint8Array.of(0xff)], type: "BYTE_ARRAY" }],
    })
    expect(await imported(world.acme.newProject(), file)).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining("not UTF-8; write them as base64 texts") },
    })
  })

  test("nothing: 400, and how much it has", async () => {
    expect(await imported(world.acme.newProject(), Buffer.alloc(0))).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining("it has 0 bytes") },
    })
  })
})

test("law 8: groups of rows are read together while they are small, and large ones each by itself", () => {
  const group = (num_rows: bigint, mebibytes: number) => ({
    num_rows,
    columns: [],
    total_byte_size: BigInt(mebibytes * mebibyte),
  })
  const file = (...row_groups: ReturnType<typeof group>[]): FileMetaData => ({
    version: 2,
    schema: [],
    num_rows: 0n,
    row_groups,
    metadata_length: 0,
  })
  const small = file(group(3n, 1), group(0n, 1), group(3n, 1), group(3n, 1))
  expect([0, 4, 9].map((from) => stretchEnd(small, from, 100))).toEqual([9, 9, 9])
  expect([0, 4, 8].map((from) => stretchEnd(small, from, 2))).toEqual([2, 6, 9])
  const large = file(group(3n, 20), group(3n, 1), group(3n, 20))
  expect([0, 1, 3, 6].map((from) => stretchEnd(large, from, 100))).toEqual([3, 3, 6, 9])
})

test("a file of many groups comes whole, without the system's temporary folder, and leaves nothing behind", async () => {
  vi.stubEnv("TMPDIR", "/nowhere")
  onTestFinished(() => void vi.unstubAllEnvs())
  const names = Array.from({ length: 25 }, (_, n) => `row ${n}`)
  const columnData = [{ name: "name", data: names, type: "STRING" as const }]
  const rows = await rowsOf(parquetWriteBuffer({ columnData, rowGroupSize: 4 }))
  expect(rows).toEqual(names.map((name) => JSON.stringify({ name })))
  const project = world.acme.newProject()
  const { body } = await imported(project, parquetWriteBuffer({ columnData }))
  const again = await exported({ project_id: project, table_digest: body.table_digest, format: "parquet" })
  expect((await imported(project, again)).body.table_digest).toBe(body.table_digest)
  expect(await readdir(path.join(world.app.stores.dataDir, "blobs", "tmp"))).toEqual([])
})
