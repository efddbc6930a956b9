/**
 * What runs of the wandb client send line by line (platform-wandb 6). A line that comes again takes the place of the
 * first one, so that a client may repeat itself. Decision 0021.
 */
export const runTables = [
  // By step, as histories are read: a page of steps is a range of the primary key however long the run is.
  `create table if not exists run_history (
    project_id UUID,
    run_id UUID,
    step Int64,
    segment String,
    line UInt64,
    text String codec(ZSTD),
    keys Array(LowCardinality(String)),
    types Array(LowCardinality(String)),
    version DateTime64(9, 'UTC') default now64(9)
  ) engine = ReplacingMergeTree(version) order by (project_id, run_id, step, segment, line)
  settings index_granularity = 1024`,
  `create table if not exists run_lines (
    project_id UUID,
    run_id UUID,
    file LowCardinality(String),
    segment String,
    line UInt64,
    text String codec(ZSTD),
    version DateTime64(9, 'UTC') default now64(9)
  ) engine = ReplacingMergeTree(version) order by (project_id, run_id, file, segment, line)
  settings index_granularity = 1024`,
]

/** Begins the segment of rows that the server adds for a training job; no client's segment begins so. */
export const jobSegments = "job:"

export interface RunKey {
  projectId: string
  runId: string
}

export const ofRun = "project_id = {projectId:UUID} and run_id = {runId:UUID}"

/** The texts of one answer together; more of them are a refusal, since they are all held at once. */
export const answerBytes = 64 * 1024 ** 2
