/** Importing files that are cut off, broken, or made to take the server's memory or time. */
import { parquetWriteBuffer } from "hyparquet-writer"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { CsvEnds, LineEnds, wholeRows } from "../../src/transfer/import/whole-rows.ts"
import { BodyBudget } from "../../src/http/bodies/body-budget.ts"
import { defaultLimits } from "../../src/limits.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

const mebibyte = 1024 ** 2
const budget = new BodyBudget(defaultLimits)
const ends = { csv: () => new CsvEnds(), jsonl: () => new LineEnds() }

function rowsOf(format: "csv" | "jsonl", bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  return wholeRows(bytes, ends[format](), { held: budget.open(), partBytes: mebibyte })
}

let world: EvaluationApp
beforeAll(async () => {
  world = await openEvaluationApp()
})
afterAll(() => world.close())

test.each(["jsonl", "csv", "parquet"])("a %s file whose compression is broken: 400", async (format) => {
  const url = `/import/calls?project_id=${encodeURIComponent(world.acme.newProject())}&format=${format}`
  const headers = { "content-type": "application/octet-stream", "content-encoding": "gzip" }
  const answer = await world.acme.post(url, Buffer.from("this is not gzip"), headers)
  expect([answer.status, answer.body]).toEqual([
    400,
    { reason: expect.stringContaining("gzip"), error_type: "InvalidRequest" },
  ])
})

describe("law 8: a row of a Parquet file that stands for more than its bytes", () => {
  const text = "y".repeat(3 * mebibyte)
  const tooLarge = {
    status: 200,
    body: { imported: 0, failed: 1, errors: [{ row: 1, message: "has more than 33554432 bytes" }] },
  }

  async function imported(file: ArrayBuffer) {
    const url = `/import/dataset?project_id=${world.acme.newProject()}&format=parquet`
    return world.acme.post(url, Buffer.from(file))
  }

  test("in its columns together", async () => {
    const columnData = Array.from({ length: 12 }, (_, n) => ({ name: `c${n}`, data: [text], type: "STRING" as const }))
    expect(await imported(parquetWriteBuffer({ columnData }))).toMatchObject(tooLarge)
  })

  test("in one column, beyond what a text of the server may have", async () => {
    const file = parquetWriteBuffer({
      schema: [
        { name: "schema", num_children: 1 },
        { name: "list", num_children: 1, repetition_type: "REQUIRED", converted_type: "LIST" },
        { name: "list", num_children: 1, repetition_type: "REPEATED" },
        { name: "element", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      ],
      columnData: [{ name: "list", data: [Array.from({ length: 180 }, () => text)] }],
      statistics: false,
    })
    // The text stands there once, as an entry of a dictionary.
    expect(file.byteLength).toBeLessThan(4 * mebibyte)
    expect(await imported(file)).toMatchObject(tooLarge)
  })
})

describe.each(["csv", "jsonl"] as const)("%s", (format) => {
  test("a source that fails fails the rows", async () => {
    async function* source() {
      yield Buffer.from("a,b\n")
      throw new Error("the client left")
    }
    await expect(Array.fromAsync(rowsOf(format, source()))).rejects.toThrow("the client left")
  })

  test.each(["x", ",", '"'])(
    "a file that is one row of nothing but %s is not read to its end: 413",
    async (character) => {
      let read = 0
      async function* source() {
        yield Buffer.from('"a"\n"')
        for (; read < 1024; read++) yield Buffer.alloc(mebibyte, character)
      }
      const rows = Array.fromAsync(rowsOf(format, source()))
      await expect(rows).rejects.toMatchObject({
        status: 413,
        message: expect.stringMatching(/^row [12] has more than 33554432 bytes$/),
      })
      expect(read).toBeLessThan(40)
    },
    60_000,
  )
})
