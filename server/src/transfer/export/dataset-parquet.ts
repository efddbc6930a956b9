/** Datasets as Parquet: texts, numbers and booleans as such, anything else as JSON. */
import type { SchemaElement } from "hyparquet"
import { fileWriter, ParquetWriter } from "hyparquet-writer"
import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import type { Readable } from "node:stream"
import { zstdCompressSync } from "node:zlib"
import { stringOf } from "../../json/json-cursor.ts"
import { membersOf } from "../../json/json-members.ts"
import type { DatasetColumns, DatasetKind } from "./dataset-columns.ts"

const groupRows = 8192

/** Written into the system's temporary folder first: its list of what is where stands at its end. */
export async function datasetParquet(
  columns: DatasetColumns,
  batches: AsyncIterable<readonly string[]>,
): Promise<Readable> {
  const folder = await mkdtemp(path.join(tmpdir(), "heddle-export-"))
  try {
    const name = path.join(folder, "dataset.parquet")
    await write(name, columns, batches)
    return (await open(name)).createReadStream()
  } finally {
    await rm(folder, { recursive: true, force: true })
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
  for await (const rows of batches) {
    for (let from = 0; from < rows.length; from += groupRows) {
      await writer.write({
        columnData: columnData(columns, rows.slice(from, from + groupRows)),
        rowGroupSize: groupRows,
      })
    }
  }
  await writer.finish()
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

function columnData(columns: DatasetColumns, rows: readonly string[]) {
  const members = rows.map((row) => new Map(membersOf(row)))
  return Array.from(columns, ([name, kind]) => ({
    name,
    data: members.map((row) => {
      const json = row.get(name)
      return json === undefined ? null : cells[kind](json)
    }),
  }))
}
