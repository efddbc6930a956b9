/** Datasets as Parquet: texts, numbers and booleans as such, anything else as JSON. */
import type { SchemaElement } from "hyparquet"
import { fileWriter, ParquetWriter } from "hyparquet-writer"
import { open, rm } from "node:fs/promises"
import type { Readable } from "node:stream"
import { zstdCompressSync } from "node:zlib"
import { HeddleError } from "../../errors.ts"
import { stringOf } from "../../json/json-cursor.ts"
import { membersOf } from "../../json/json-members.ts"
import type { DatasetColumns, DatasetKind } from "./dataset-columns.ts"
import { rowSlices } from "./row-slices.ts"

/** Of a group of rows. It is encoded and compressed at once, on the thread that serves everybody. */
const groupRows = 8192
const groupCharacters = 2 * 1024 ** 2
const groupCells = 1024 ** 2
/** Even of so many columns that this is more cells: each column costs as much again in every group. */
const fewestGroupRows = 2048
/** The list at the end of a file names each column of each group. */
const mostListed = 200_000

/** Written into `file` first: its list of what is where stands at its end. What reads it goes on when its name is gone. */
export async function datasetParquet(
  columns: DatasetColumns,
  batches: AsyncIterable<readonly string[]>,
  file: string,
): Promise<Readable> {
  try {
    await write(file, columns, batches)
    return (await open(file)).createReadStream()
  } finally {
    await rm(file, { force: true })
  }
}

async function write(name: string, columns: DatasetColumns, batches: AsyncIterable<readonly string[]>): Promise<void> {
  const writer = new ParquetWriter({
    writer: fileWriter(name),
    schema: schemaOf(columns),
    codec: "ZSTD",
    compressors: { ZSTD: zstdCompressSync },
    createdBy: "heddle",
  })
  let listed = 0
  let group = new CellGroup(columns)
  for await (const rows of rowSlices(batches, columns.size)) {
    group.add(rows)
    if (!group.isFull) continue
    if ((listed += columns.size) > mostListed) throw tooWide(columns.size)
    await writer.write({ columnData: group.columnData(), rowGroupSize: group.rows })
    group = new CellGroup(columns)
  }
  if (group.rows > 0) await writer.write({ columnData: group.columnData(), rowGroupSize: group.rows })
  await writer.finish()
}

function tooWide(columns: number): HeddleError {
  return new HeddleError(
    "invalid_request",
    `the rows are too many for a Parquet file of ${columns} columns; export them as CSV or JSON Lines`,
  )
}

function schemaOf(columns: DatasetColumns): SchemaElement[] {
  const fields = Array.from(columns, ([name, kind]): SchemaElement => ({
    name,
    repetition_type: "OPTIONAL",
    ...types[kind],
  }))
  return [{ name: "schema", num_children: fields.length }, ...fields]
}

const types: Readonly<Record<DatasetKind, Pick<SchemaElement, "type" | "converted_type" | "logical_type">>> = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  integer: { type: "INT64" },
  number: { type: "DOUBLE" },
  boolean: { type: "BOOLEAN" },
  // The converted type of the same name would have the writer print the text a second time.
  json: { type: "BYTE_ARRAY", logical_type: { type: "JSON" } },
}

const encoder = new TextEncoder()

const cells: Readonly<Record<DatasetKind, (json: string) => unknown>> = {
  text: stringOf,
  integer: BigInt,
  number: Number,
  boolean: (json) => json === "true",
  json: (json) => encoder.encode(json),
}

/** Rows that are encoded and compressed together. */
class CellGroup {
  readonly #columns: { name: string; kind: DatasetKind; data: unknown[] }[]
  #characters = 0
  rows = 0

  constructor(columns: DatasetColumns) {
    this.#columns = Array.from(columns, ([name, kind]) => ({ name, kind, data: [] }))
  }

  get isFull(): boolean {
    const mostRows = Math.min(groupRows, Math.max(fewestGroupRows, groupCells / this.#columns.length))
    return this.rows >= mostRows || this.#characters >= groupCharacters
  }

  add(rows: readonly string[]): void {
    for (const row of rows) {
      const members = new Map(membersOf(row))
      for (const { name, kind, data } of this.#columns) {
        const json = members.get(name)
        data.push(json === undefined ? null : cells[kind](json))
      }
      this.#characters += row.length
    }
    this.rows += rows.length
  }

  columnData(): { name: string; data: unknown[] }[] {
    return this.#columns.map(({ name, data }) => ({ name, data }))
  }
}
