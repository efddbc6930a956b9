/** Importing files that are cut off, broken, or made to take the server's memory or time. */
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
