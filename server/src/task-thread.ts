/** What the threads of `ThreadPool` load: every task that may run on one. It opens nothing; what a task needs is sent to it. */
import { callsTask } from "./evaluation/calls/calls-task.ts"
import { linksTask } from "./evaluation/dataset-sources/link-body.ts"
import { finishTask, predictionTask, scoreTask } from "./evaluation/evaluation-runs/run-bodies.ts"
import { feedbackTask } from "./evaluation/feedback/feedback-task.ts"
import { importCallsTask } from "./evaluation/import/calls-import-task.ts"
import { importDatasetTask, importedTableTask } from "./evaluation/import/dataset-import-task.ts"
import { importFeedbackTask } from "./evaluation/import/feedback-import-task.ts"
import { parquetSizeTask } from "./evaluation/import/parquet-size-task.ts"
import { datasetTask } from "./evaluation/object-families/dataset-task.ts"
import { evaluationTask, modelTask } from "./evaluation/object-families/family-bodies.ts"
import { publicationTask } from "./evaluation/objects/publication-task.ts"
import { logsTask } from "./evaluation/otel/logs-task.ts"
import { remapTask } from "./evaluation/otel/remap-task.ts"
import { traceExportTask } from "./evaluation/otel/trace-export.ts"
import { schemaTask } from "./evaluation/schemas/schema-check.ts"
import { createTableTask, tableFromDigestsTask, updateTableTask } from "./evaluation/tables/table-tasks.ts"
import { manifestTask } from "./platform/artifacts/manifest-task.ts"
import { runDocumentTask } from "./platform/runs/run-document.ts"
import { fileStreamTask } from "./platform/runs/stream-task.ts"
import { taskRunner } from "./threads/task-runner.ts"

export const runTask = taskRunner([
  callsTask,
  createTableTask,
  datasetTask,
  evaluationTask,
  feedbackTask,
  fileStreamTask,
  finishTask,
  importCallsTask,
  importDatasetTask,
  importFeedbackTask,
  importedTableTask,
  linksTask,
  logsTask,
  manifestTask,
  modelTask,
  parquetSizeTask,
  predictionTask,
  publicationTask,
  remapTask,
  runDocumentTask,
  schemaTask,
  scoreTask,
  tableFromDigestsTask,
  traceExportTask,
  updateTableTask,
])
