/**
 * Entry of the threads of `ThreadPool`: every task that may run there, by its name. A thread loads the module of a task when
 * it first runs it, which takes 20 to 100 ms; all of them together take half a second of each server's start. A thread opens
 * nothing; tasks receive what they need.
 */
import { taskRunner } from "./threads/task-runner.ts"

const families = () => import("./objects/families/family-bodies.ts")
const parquet = () => import("./transfer/export/parquet-tasks.ts")
const runs = () => import("./evaluations/runs/run-bodies.ts")
const tables = () => import("./objects/tables/table-tasks.ts")
const datasetImports = () => import("./transfer/import/dataset-import-task.ts")

export const tasks = {
  "artifact/manifest": async () => (await import("./platform/artifacts/manifest-task.ts")).manifestTask,
  calls: async () => (await import("./calls/write/calls-task.ts")).callsTask,
  dataset: async () => (await import("./objects/families/dataset-task.ts")).datasetTask,
  "dataset sources/link": async () => (await import("./objects/dataset-sources/link-body.ts")).linksTask,
  evaluation: async () => (await families()).evaluationTask,
  "evaluation run/finish": async () => (await runs()).finishTask,
  "evaluation run/prediction": async () => (await runs()).predictionTask,
  "evaluation run/score": async () => (await runs()).scoreTask,
  "export/parquet-end": async () => (await parquet()).parquetEndTask,
  "export/parquet-group": async () => (await parquet()).parquetGroupTask,
  feedback: async () => (await import("./labelling/feedback/feedback-task.ts")).feedbackTask,
  "import/calls": async () => (await import("./transfer/import/calls-import-task.ts")).importCallsTask,
  "import/dataset": async () => (await datasetImports()).importDatasetTask,
  "import/feedback": async () => (await import("./transfer/import/feedback-import-task.ts")).importFeedbackTask,
  "import/parquet-size": async () => (await import("./transfer/import/parquet-size-task.ts")).parquetSizeTask,
  "import/table": async () => (await datasetImports()).tableStretchTask,
  model: async () => (await families()).modelTask,
  object: async () => (await import("./objects/publication-task.ts")).publicationTask,
  "otel/logs": async () => (await import("./calls/otel/logs-task.ts")).logsTask,
  "otel/remap": async () => (await import("./calls/otel/remap-task.ts")).remapTask,
  "otel/traces": async () => (await import("./calls/otel/trace-export.ts")).traceExportTask,
  "ref paths": async () => (await import("./objects/refs/ref-paths.ts")).refPathsTask,
  "run/document": async () => (await import("./platform/runs/run-document.ts")).runDocumentTask,
  "run/file_stream": async () => (await import("./platform/runs/stream-task.ts")).fileStreamTask,
  schema: async () => (await import("./objects/schemas/schema-check.ts")).schemaTask,
  "sft-row": async () => (await import("./training/sft/sft-row-task.ts")).sftRowTask,
  "table/create": async () => (await tables()).createTableTask,
  "table/create_from_digests": async () => (await tables()).tableFromDigestsTask,
  "table/update": async () => (await tables()).updateTableTask,
  "train-from-rows": async () => (await import("./training/from/map-rows-task.ts")).mapRowsTask,
}

export const runTask = taskRunner(tasks)
