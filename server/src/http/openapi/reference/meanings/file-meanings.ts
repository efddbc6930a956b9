/** Files, exports and imports. */
import type { Meanings } from "./meanings.ts"

export const fileMeanings: Meanings = {
  requests: {
    format: "`jsonl`, `csv` or `parquet`.",
    moved_from: "Project that the file was exported from: refs into it become refs into this project.",
    spreadsheet_safe: "CSV only: an apostrophe before texts that a spreadsheet would run as a formula.",
  },
  schemas: {
    File: {
      bytes: "Size of the file in bytes.",
      created_at: "When it was uploaded, in Unix seconds.",
      filename: "Name that the client gave the file.",
      purpose: "What the client says that the file is for.",
      status: "Always `processed`: a file can be used as soon as it is stored.",
    },
    FileUrls: {
      download_urls: "Addresses that need no key, in the order of the request.",
      expires_at: "When the addresses end.",
    },
    ImportDatasetQuery: {
      description: "What the dataset is; shown with it.",
      name: "A dataset of this name gets a new version; without a name there is only the table.",
    },
    ImportDatasetReport: {
      failed: "How many rows have an error; with one of them nothing is stored.",
      table_digest: "Digest of the table; null: nothing was stored.",
      object_id: "Name of the dataset; null: there is only the table, or nothing was stored.",
      digest: "Digest of the dataset's version; null: there is only the table, or nothing was stored.",
      version_index: "Number of the dataset's version, from 0; null: there is only the table, or nothing was stored.",
    },
    "ImportDatasetReport, ImportReport": {
      imported: "How many rows were stored.",
      errors: "The first hundred errors.",
    },
    "ImportDatasetReport.errors, ImportReport.errors": {
      row: "Number of the row, from 1; the header of a CSV file does not count.",
      column: "Column, or field, that has the error; null: the row as a whole has.",
      value: "What stands there, cut when it is long; null: nothing does.",
      message: "What is wrong with it.",
    },
    ImportReport: { failed: "How many rows have an error; they are left out, and the others are stored." },
    IngestSamplingAnswer: {
      dry_run: "Always false.",
      sample_rate: "Share of calls that is stored: always 1, which is all.",
    },
    ProjectFileContentBody: { digest: "Digest of the file, as the answer to storing it says." },
    ProjectFileCreated: { digest: "Digest of the file, by which it is fetched." },
    ProjectFileStats: { total_size_bytes: "Bytes of the project's files." },
    ProjectStatsAnswer: {
      trace_storage_size_bytes: "Bytes of calls; 0 where they were not asked for.",
      objects_storage_size_bytes: "Bytes of objects; 0 where they were not asked for.",
      tables_storage_size_bytes: "Bytes of rows of tables; 0 where they were not asked for.",
      files_storage_size_bytes: "Bytes of files; 0 where they were not asked for.",
    },
    ProjectStatsBody: {
      include_trace_storage_size: "Whether to add up the bytes of calls; absent: yes.",
      include_object_storage_size: "Whether to add up the bytes of objects; absent: yes.",
      include_table_storage_size: "Whether to add up the bytes of tables; absent: yes.",
      include_file_storage_size: "Whether to add up the bytes of files; absent: yes.",
    },
    SensitiveDataAnswer: { policy: "What is taken out of payloads: always `off`, which is nothing." },
  },
}
