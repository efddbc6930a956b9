/**
 * Parts of a Parquet file, made on threads: groups of rows, and the end, which lists what is where. Texts, numbers and booleans
 * stand as such, anything else as JSON.
 */
import type { RowGroup, SchemaElement } from "hyparquet"
import { ByteWriter, ParquetWriter } from "hyparquet-writer"
import { deserialize, serialize } from "node:v8"
import { zstdCompressSync } from "node:zlib"
import { stringOf } from "../../json/json-cursor.ts"
import { membersOf } from "../../json/json-members.ts"
import { plainTask } from "../../threads/thread-task.ts"
import type { DatasetColumns, DatasetKind } from "./dataset-columns.ts"

/** How a file begins. */
export const parquetStart = Buffer.from("PAR1")

/** Stands between the JSON texts of rows: JSON has it only escaped. */
export const betweenRows = "\x1e"

interface FilePart {
  /** JSON of the entries of {@link DatasetColumns}: as a text they are cheap to hand over. */
  columns: string
  /** Where in the file the part begins. */
  start: number
}

export interface EncodedGroup {
  bytes: Buffer
  /** What the end of the file says of it, serialized. */
  listed: Buffer
}

export const parquetGroupTask = plainTask({
  name: "export/parquet-group",
  ownThreadBytes: 64 * 1024,
  work: async ({ rows, ...part }: FilePart & { rows: Buffer }): Promise<EncodedGroup> => {
    const { writer, bytes, columns } = openPart(part)
    const texts = rows.toString().split(betweenRows)
    await writer.write({ columnData: columnsOf(texts, columns), rowGroupSize: texts.length })
    return { bytes: bytesOf(bytes), listed: serialize(contentOf(writer)) }
  },
})

/** `groups`: what is {@link EncodedGroup.listed} of each. */
export const parquetEndTask = plainTask({
  name: "export/parquet-end",
  ownThreadBytes: 64 * 1024,
  work: async ({ groups, ...part }: FilePart & { groups: Buffer[] }): Promise<{ bytes: Buffer }> => {
    const { writer, bytes } = openPart(part)
    for (const listed of groups) {
      const { row_groups, pendingIndexes } = deserialize(listed) as ReturnType<typeof contentOf>
      writer.row_groups.push(...row_groups)
      writer.pendingIndexes.push(...pendingIndexes)
    }
    writer.num_rows = writer.row_groups.reduce((sum, { num_rows }) => sum + num_rows, 0n)
    await writer.finish()
    return { bytes: bytesOf(bytes) }
  },
})

/** A writer that goes on where a file ends so far. */
function openPart({ columns: entries, start }: FilePart) {
  const columns: DatasetColumns = new Map(JSON.parse(entries) as [string, DatasetKind][])
  const bytes = new ByteWriter()
  const writer = new ParquetWriter({
    writer: bytes,
    schema: schemaOf(columns),
    codec: "ZSTD",
    compressors: { ZSTD: zstdCompressSync },
    createdBy: "heddle",
  })
  // It has written the start of a file.
  bytes.index = 0
  bytes.offset = start
  return { writer, bytes, columns }
}

/** In one serialization: the indexes name chunks of the groups. */
function contentOf({ row_groups, pendingIndexes }: ParquetWriter): {
  row_groups: RowGroup[]
  pendingIndexes: ParquetWriter["pendingIndexes"]
} {
  return { row_groups, pendingIndexes }
}

function bytesOf(writer: ByteWriter): Buffer {
  const { buffer, byteOffset, byteLength } = writer.getBytes()
  return Buffer.from(buffer, byteOffset, byteLength)
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

function columnsOf(rows: readonly string[], columns: DatasetColumns): { name: string; data: unknown[] }[] {
  const made = Array.from(columns, ([name, kind]) => ({ name, kind, data: [] as unknown[] }))
  for (const row of rows) {
    const members = new Map(membersOf(row))
    for (const { name, kind, data } of made) {
      const json = members.get(name)
      data.push(json === undefined ? null : cells[kind](json))
    }
  }
  return made.map(({ name, data }) => ({ name, data }))
}
