/** Rows of tables: `/table/query_stream`, `/table/query_stats_batch`; files of datasets: `/export/dataset`, `/import/dataset`. */
import type { importDatasetReport } from "@heddle/server/wire/transfer/import.ts"
import type { tableRow, tableStatsBatch } from "@heddle/server/wire/objects/table.ts"
import { queryOptions, useMutation, useQueries, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import { type JsonText, readRecord } from "../../json/json-text.ts"
import type { ApiError } from "../api-error.ts"
import { send, sendForJson, sendForLines } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"

type Row = z.output<typeof tableRow>
/** A row whose value is text, with its numbers as written. */
export type TextRow = Omit<Row, "val"> & { val: JsonText }

interface TablePart {
  project_id: string
  digest: string
  limit?: number
  offset?: number
  sort_by?: readonly { field: string; direction: "asc" | "desc" }[]
}

/** A digest never names another table: what was read of it stays. */
const rowsQuery = (body: TablePart) =>
  queryOptions<TextRow[], ApiError>({
    queryKey: ["POST /table/query_stream", body],
    queryFn: async ({ signal }) => {
      const rows: TextRow[] = []
      for await (const line of sendForLines({ method: "POST", path: "/table/query_stream", body, signal })) {
        rows.push(readRecord<Row, "val">(line, ["val"]))
      }
      return rows
    },
    staleTime: Infinity,
    // Texts that are the same need not be found to be.
    structuralSharing: false,
  })

/** Parts of a table, each on its own. */
export function useTableParts(parts: readonly TablePart[]) {
  // The rows of another part are none of this one.
  return useQueries({ queries: parts.map((body) => ({ ...rowsQuery(body), placeholderData: () => undefined })) })
}

type Counts = z.output<typeof tableStatsBatch>

/** How many rows tables have and how large they are; those that are not there are left out. */
export function useTableSizes(project_id: string, digests: readonly string[]) {
  return useQuery({
    ...jsonQuery<Counts>("POST", "/table/query_stats_batch", { project_id, digests, include_storage_size: true }),
    enabled: digests.length > 0,
    staleTime: Infinity,
  })
}

export type FileFormat = "csv" | "jsonl" | "parquet"

/** The rows of a version of a dataset, as a file. */
export async function downloadDataset(body: {
  project_id: string
  object_id: string
  digest: string
  format: FileFormat
}): Promise<Blob> {
  const response = await send({ method: "POST", path: "/export/dataset", body })
  return response.blob()
}

type ImportReport = z.output<typeof importDatasetReport>

interface ImportedFile {
  project_id: string
  name: string
  format: FileFormat
  file: Blob
}

/** A file as the rows of a dataset's next version. One row that cannot be read keeps all of them out. */
export function useImportDataset() {
  return useMutation<ImportReport, ApiError, ImportedFile>({
    mutationFn: ({ file, ...query }) => sendForJson({ method: "POST", path: "/import/dataset", query, file }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["POST /objs/query"] }),
  })
}
