/** Entry of the threads of `ThreadPool`: every task that may run there. It opens nothing; tasks receive what they need. */
import { callsTask } from "./calls/write/calls-task.ts"
import { linksTask } from "./objects/dataset-sources/link-body.ts"
import { finishTask, predictionTask, scoreTask } from "./evaluations/runs/run-bodies.ts"
import { feedbackTask } from "./labelling/feedback/feedback-task.ts"
import { parquetEndTask, parquetGroupTask } from "./transfer/export/parquet-tasks.ts"
import { importCallsTask } from "./transfer/import/calls-import-task.ts"
import { importDatasetTask, tableStretchTask } from "./transfer/import/dataset-import-task.ts"
import { importFeedbackTask } from "./transfer/import/feedback-import-task.ts"
import { parquetSizeTask } from "./transfer/import/parquet-size-task.ts"
import { datasetTask } from "./objects/families/dataset-task.ts"
import { evaluationTask, modelTask } from "./objects/families/family-bodies.ts"
import { publicationTask } from "./objects/publication-task.ts"
import { logsTask } from "./calls/otel/logs-task.ts"
import { remapTask } from "./calls/otel/remap-task.ts"
import { traceExportTask } from "./calls/otel/trace-export.ts"
import { schemaTask } from "./objects/schemas/schema-check.ts"
import { createTableTask, tableFromDigestsTask, updateTableTask } from "./objects/tables/table-tasks.ts"
import { refPathsTask } from "./objects/refs/ref-paths.ts"
import { manifestTask } from "./platform/artifacts/manifest-task.ts"
import { runDocumentTask } from "./platform/runs/run-document.ts"
import { fileStreamTask } from "./platform/runs/stream-task.ts"
import { mapRowsTask } from "./training/from/map-rows-task.ts"
import { sftRowTask } from "./training/sft/sft-row-task.ts"
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
  linksTask,
  logsTask,
  manifestTask,
  mapRowsTask,
  modelTask,
  parquetEndTask,
  parquetGroupTask,
  parquetSizeTask,
  predictionTask,
  publicationTask,
  refPathsTask,
  remapTask,
  runDocumentTask,
  schemaTask,
  scoreTask,
  sftRowTask,
  tableFromDigestsTask,
  tableStretchTask,
  traceExportTask,
  updateTableTask,
])
