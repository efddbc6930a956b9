/**
 * Every limit that an operator may change, in one list: what it bounds, its default, and the answer to whoever meets it.
 * `docs/guide/limits.md` is printed from this list. A limit is set by the environment variable `HEDDLE_LIMIT_<NAME>`.
 */

export type LimitUnit = "bytes" | "milliseconds" | "days" | "count"

const hundredYears = 36_500
/** Highest values. Node ends a timer of more milliseconds at once; PostgreSQL has no date that lies many more days back. */
const mostOf: { [unit in LimitUnit]?: number } = { milliseconds: 2 ** 31 - 1, days: hundredYears }

export interface Limit {
  default: number
  unit: LimitUnit
  /** One sentence for the guide: what is bounded, and why that default. */
  meaning: string
  /** Status and code of the answer, as `errors.ts` names it. */
  answer: string
  /** A limit that another one lowers and raises with it, unless this one is set. */
  inProportionTo?: string
  /** Highest value, where it is not that of its unit. */
  most?: number
}

export const limitList = {
  body_memory_bytes: {
    default: 1024 ** 3,
    unit: "bytes",
    meaning:
      "Memory for the request bodies that are held at one time. " +
      "A quarter of the memory of the machine, its container or the heap is used where that is less.",
    answer: "503 `server_overloaded`",
  },
  body_memory_bytes_per_user: {
    default: 256 * 1024 ** 2,
    unit: "bytes",
    meaning:
      "The same for one user, and one body beyond that. Unless it is set, it is a quarter of the limit above, also where memory " +
      "lowers that one. Requests without a key are counted by address.",
    answer: "503 `server_overloaded`",
    inProportionTo: "body_memory_bytes",
  },
  body_wait_ms: {
    default: 10_000,
    unit: "milliseconds",
    meaning: "How long a body may wait for that memory.",
    answer: "503 `server_overloaded`",
  },
  body_idle_ms: {
    default: 30_000,
    unit: "milliseconds",
    meaning: "How long a body may send nothing.",
    answer: "408 `request_timeout`, and the connection is closed",
  },
  body_bytes_per_second: {
    default: 1024,
    unit: "bytes",
    meaning: "Slowest pace of a body, in a second, over twice that time. What waits for the server is not counted.",
    answer: "408 `request_timeout`, and the connection is closed",
  },
  connections: {
    default: 10_000,
    unit: "count",
    meaning: "Connections at a time, busy and idle, of all clients together.",
    answer: "none: a new connection is closed",
  },
  answer_unread_ms: {
    default: 300_000,
    unit: "milliseconds",
    meaning:
      "How long an answer may wait for its client to read on. Then its connection ends, a quarter of that time late at most.",
    answer: "none, the connection is closed",
  },
  run_row_bytes: {
    default: 16 * 1024 ** 2,
    unit: "bytes",
    meaning: "One row that a run of the wandb client logs, or its summary. The client itself stops at about 10 MB.",
    answer: "413 `payload_too_large`",
  },
  run_document_values: {
    default: 100_000,
    unit: "count",
    meaning: "Values in the config of a run, and in its summary: numbers, texts, lists and objects.",
    answer: "413 `payload_too_large`",
  },
  run_file_bytes: {
    default: 5 * 1024 ** 3,
    unit: "bytes",
    meaning: "One file of a run or an artifact of the wandb client; of a file that comes in parts, one part.",
    answer: "413 `payload_too_large`",
  },
  catalog_connections: {
    default: 16,
    unit: "count",
    meaning:
      "Connections to a PostgreSQL catalog; the requests of one user have at most half of them. The embedded catalog has one.",
    answer: "none, requests wait",
  },
  catalog_waiting_per_user: {
    default: 5_000,
    unit: "count",
    meaning: "Statements and transactions of one user that may wait for a connection to the catalog.",
    answer: "429 `rate_limit_exceeded`",
  },
  catalog_waiting_total: {
    default: 20_000,
    unit: "count",
    meaning: "The same of all users together; a user who has none waiting may always add one.",
    answer: "503 `store_overloaded`",
  },
  catalog_wait_ms: {
    default: 30_000,
    unit: "milliseconds",
    meaning: "How long a statement or transaction may wait for a connection to the catalog.",
    answer: "503 `store_overloaded`",
  },
  trace_queries_at_once: {
    default: 4,
    unit: "count",
    meaning:
      "Queries that run at a time in the embedded trace store. One place is kept for look-ups by id; " +
      "the other queries of one user have at most half of the places.",
    answer: "none, requests wait",
  },
  clickhouse_queries_at_once: {
    default: 16,
    unit: "count",
    meaning: "The same for a ClickHouse server, and as many inserts at a time.",
    answer: "none, requests wait",
  },
  trace_exports_at_once: {
    default: 2,
    unit: "count",
    meaning: "Exports that run at a time; of one user at most half of them.",
    answer: "none, requests wait",
  },
  clickhouse_exports_at_once: {
    default: 8,
    unit: "count",
    meaning: "The same for a ClickHouse server, which is at work on an export as long as its client reads.",
    answer: "none, requests wait",
  },
  trace_waiting_per_user: {
    default: 1_000,
    unit: "count",
    meaning: "Queries of one user that may wait for their turn in the trace store, and as many inserts and exports.",
    answer: "429 `rate_limit_exceeded`",
  },
  trace_waiting_total: {
    default: 5_000,
    unit: "count",
    meaning: "The same of all users together; a user who has none waiting may always add one.",
    answer: "503 `store_overloaded`",
  },
  trace_wait_ms: {
    default: 60_000,
    unit: "milliseconds",
    meaning: "How long a query or an insert may wait for its turn in the trace store.",
    answer: "503 `store_overloaded`",
  },
  trace_export_wait_ms: {
    default: 600_000,
    unit: "milliseconds",
    meaning: "How long an export may wait for its turn.",
    answer: "503 `store_overloaded`",
  },
  call_waiting_bytes_per_user: {
    default: 64 * 1024 ** 2,
    unit: "bytes",
    meaning: "Calls of one user that may wait to be stored.",
    answer: "429 `rate_limit_exceeded`",
  },
  call_waiting_bytes_total: {
    default: 128 * 1024 ** 2,
    unit: "bytes",
    meaning: "The same of all users together; a user who has none waiting may always add one request.",
    answer: "503 `store_overloaded`",
  },
  json_body_bytes: {
    default: 4 * 1024 ** 2,
    unit: "bytes",
    meaning:
      "A body that is parsed at once: queries, settings, objects to look up. " +
      "Batches of calls, spans and feedback, objects and tables are read in another way and may have 32 MiB; files have limits " +
      "of their own.",
    answer: "413 `payload_too_large`",
  },
  json_body_values: {
    default: 100_000,
    unit: "count",
    meaning: "Values in such a body: numbers, texts, lists and objects.",
    answer: "413 `payload_too_large`",
  },
  prompt_body_bytes: {
    default: 8 * 1024 ** 2,
    unit: "bytes",
    meaning: "The body of a chat, a completion or a text to be cut into tokens. No model reads a prompt of more.",
    answer: "413 `payload_too_large`",
  },
  prompt_token_ids: {
    default: 300_000,
    unit: "count",
    meaning: "Values in the body of a completion or of tokens to be made into text, where each token is one.",
    answer: "413 `payload_too_large`",
  },
  payload_threads: {
    default: 2,
    unit: "count",
    meaning:
      "Threads that read large bodies, check what users wrote and encode Parquet files of datasets, beside the one that serves everybody.",
    answer: "none, requests wait",
  },
  payload_waiting_per_user: {
    default: 200,
    unit: "count",
    meaning: "Pieces of such work of one user that may wait for a thread; one user has at most half of the threads.",
    answer: "429 `rate_limit_exceeded`",
  },
  payload_waiting_total: {
    default: 1_000,
    unit: "count",
    meaning: "The same of all users together; a user who has none waiting may always add one.",
    answer: "503 `store_overloaded`",
  },
  payload_wait_ms: {
    default: 60_000,
    unit: "milliseconds",
    meaning: "How long such work may wait for a thread.",
    answer: "503 `store_overloaded`",
  },
  payload_work_ms: {
    default: 60_000,
    unit: "milliseconds",
    meaning: "How long a thread may work on one piece. The largest legal body takes a few seconds.",
    answer: "413 `payload_too_large`",
  },
  payload_memory_bytes: {
    default: 1024 ** 3,
    unit: "bytes",
    meaning:
      "Memory of one of these threads, without the bytes that came and those that are stored. Its buffers may take three times that. " +
      "All threads together have at most a quarter of the memory of the machine or its container, and as much again in buffers.",
    answer: "413 `payload_too_large`",
  },
  table_rows: {
    default: 1_000_000,
    unit: "count",
    meaning: "Rows of one request that makes or changes a table.",
    answer: "413 `payload_too_large`",
  },
  otlp_items: {
    default: 100_000,
    unit: "count",
    meaning: "Spans, or log records, of one export request of OpenTelemetry.",
    answer: "413 `payload_too_large`",
  },
  span_attributes: {
    default: 10_000,
    unit: "count",
    meaning: "Attributes, events or links of one span; exporters stop at 128 by themselves.",
    answer: "the span is rejected, and the others are stored",
  },
  otlp_stored_bytes: {
    default: 128 * 1024 ** 2,
    unit: "bytes",
    meaning: "What one export request takes where it is stored: each span with all that its resource says.",
    answer: "413 `payload_too_large`",
  },
  import_columns: {
    default: 10_000,
    unit: "count",
    meaning: "Columns of a file of CSV or Parquet that is imported, or that a dataset is exported to.",
    answer: "400 `invalid_request`",
  },
  import_table_rows: {
    default: 5_000_000,
    unit: "count",
    meaning: "Rows of an imported file that becomes a table, whose digests are held in memory as a part of its body.",
    answer: "413 `payload_too_large`",
  },
  schema_work_ms: {
    default: 200,
    unit: "milliseconds",
    meaning:
      "Processor time to compile a JSON Schema that a user wrote and to hold the values of one request against it. " +
      "An ordinary one takes a few.",
    answer: "400 `value_error` or `invalid_request`, which names the schema",
  },
  schema_bytes: {
    default: 256 * 1024,
    unit: "bytes",
    meaning: "A JSON Schema that a user wrote.",
    answer: "400 `value_error` or `invalid_request`",
  },
  schema_values: {
    default: 10_000,
    unit: "count",
    meaning: "Values in such a schema: numbers, texts, lists and objects.",
    answer: "400 `value_error` or `invalid_request`",
  },
  request_projects: {
    default: 1_000,
    unit: "count",
    meaning: "Projects that one request may write to, and as many that its refs may name.",
    answer: "413 `payload_too_large`",
  },
  refs_value_bytes: {
    default: 128 * 1024 ** 2,
    unit: "bytes",
    meaning: "What the refs of one request may lead to, together, and their answer, in which one value may come often.",
    answer: "413 `payload_too_large`",
  },
  chat_prompts_per_user: {
    default: 2_000,
    unit: "count",
    meaning: "Prompts that one user may have in progress.",
    answer: "429 `rate_limit_exceeded`",
  },
  chat_prompts_per_project: {
    default: 6_000,
    unit: "count",
    meaning: "Prompts that one project may have in progress.",
    answer: "429 `rate_limit_exceeded`",
  },
  chat_choices_per_user: {
    default: 8_000,
    unit: "count",
    meaning: "Choices (`n` of each prompt) that one user may have in progress.",
    answer: "429 `rate_limit_exceeded`",
  },
  chat_tokens_per_user: {
    default: 2 ** 28,
    unit: "count",
    meaning:
      "Tokens that the choices of one user in progress may have at most: 2,000 of 128 Ki. " +
      "A choice without `max_tokens` counts as 4,096.",
    answer: "429 `rate_limit_exceeded`",
  },
  chat_choices_total: {
    default: 20_000,
    unit: "count",
    meaning:
      "Choices that all users together may have in progress. A team has at most four fifths of what other teams leave of them, " +
      "and a user at most four fifths of what others leave of that, so that some are left to who has none.",
    answer: "503 `engine_overloaded`",
  },
  stored_responses_per_project: {
    default: 10_000,
    unit: "count",
    meaning:
      "Answers of `/v1/responses` that a project keeps for `previous_response_id`; about a hundred more for a moment.",
    answer: "the oldest are removed",
  },
  stored_response_days: {
    default: 30,
    unit: "days",
    meaning: "Days that such an answer is kept.",
    answer: "404 `not_found` to a request that goes on from it later",
  },
  rollout_days: {
    default: 90,
    unit: "days",
    meaning:
      "Days after its last turn that the messages and tokens of a rollout are kept. Its turns, times and rewards stay.",
    answer: "it cannot be trained any more and says so, with the day",
  },
  rollout_turns: {
    default: 2_000,
    unit: "count",
    meaning: "Turns that one rollout may have.",
    answer:
      "400 `invalid_request`; nothing is sampled. A call that a trace alone puts into it is answered and not kept",
  },
  chat_template_ms: {
    default: 5_000,
    unit: "milliseconds",
    meaning:
      "How long the chat template of a base model may take for one prompt; it runs in a process that can be killed.",
    answer: "400 `invalid_request_error`",
  },
  grammar_bytes: {
    default: 256 * 1024,
    unit: "bytes",
    meaning: "Size of a JSON schema, pattern, grammar or list of choices that an answer is to be held to.",
    answer: "400 `invalid_request_error`",
  },
  grammar_ms: {
    default: 3_000,
    unit: "milliseconds",
    meaning: "How long compiling such a grammar may take; it is done in a process that can be killed.",
    answer: "400 `invalid_request_error`",
  },
  optimizer_states_per_model: {
    default: 2,
    unit: "count",
    meaning:
      "Newest checkpoints of a model that keep the state of their optimizer, which is twice as large as the adapter. " +
      "A job starts from the newest checkpoint; the others matter when newer ones are deleted.",
    answer: "older ones are removed when a job of the model ends; a job that starts from such a step has a warning",
  },
  checkpoint_export_bytes: {
    default: 100 * 1024 ** 3,
    unit: "bytes",
    meaning:
      "What checkpoints written out as merged weights or GGUF take on the disk of the data folder, all together. " +
      "They are kept for 15 minutes after their last download, and give way to others sooner.",
    answer: "413 `payload_too_large` to what would never fit, 503 `server_overloaded` while others are downloaded",
  },
  checkpoint_import_bytes: {
    default: 8 * 1024 ** 3,
    unit: "bytes",
    meaning:
      "The tar file of a LoRA that becomes a checkpoint. One of rank 512 on a model of 8 billion parameters has 5 GiB.",
    answer: "413 `payload_too_large`",
  },
  training_record_days: {
    default: 30,
    unit: "days",
    meaning:
      "Days that the trajectories of an RL job that has ended are kept, with what was computed of each of their tokens. " +
      "They take about 40 bytes for each sampled token, and go with their model and project.",
    answer: "older ones are removed once a day; rewards and metrics of the job stay",
  },
  audit_log_days: {
    default: 400,
    unit: "days",
    meaning: "Days that an entry of the record of changes is kept.",
    answer: "older entries are removed once a day",
  },
  usage_days: {
    default: 400,
    unit: "days",
    meaning: "Days that the usage of a chat or completion is kept: who asked which model, and for how many tokens.",
    answer: "older usage is removed once a day",
  },
  team_stored_bytes: {
    default: 100 * 1024 ** 3,
    unit: "bytes",
    meaning:
      "Bytes that a team may store: calls, spans, feedback, tables, objects, files, training data, checkpoints. " +
      "This and the five below are for teams without quotas of their own.",
    answer: "403 `quota_exceeded`",
  },
  team_models: {
    default: 1_000,
    unit: "count",
    meaning: "Models that a team may have.",
    answer: "403 `quota_exceeded`",
  },
  team_projects: {
    default: 1_000,
    unit: "count",
    meaning: "Projects that a team may have.",
    answer: "403 `quota_exceeded`",
  },
  team_open_jobs: {
    default: 200,
    unit: "count",
    meaning: "Jobs of a team that may be queued, running or paused: training, scoring and evaluations together.",
    answer: "429 `rate_limit_exceeded`",
  },
  scoring_rules: {
    default: 100,
    unit: "count",
    meaning: "Rules of a project that score new calls. Each of them is held against every call that ends.",
    answer: "403 `quota_exceeded`",
  },
  scoring_waiting_calls: {
    default: 100_000,
    unit: "count",
    meaning:
      "Calls that may wait for one rule to score them. A judge that is slower than the calls come falls behind by so many.",
    answer: "none: calls beyond it are not scored, and counted as `overflowed`",
  },
  scoring_attempts: {
    default: 5,
    unit: "count",
    meaning: "How often a rule tries to score a call while its judge is away or busy.",
    answer: "none: the call is then counted as `failed`, with the reason",
  },
  scoring_retry_ms: {
    default: 1_000,
    unit: "milliseconds",
    meaning:
      "How long a rule waits before it tries a call for the second time; four times as long before each further one.",
    answer: "none",
  },
  team_api_keys: {
    default: 100,
    unit: "count",
    meaning: "Live API keys that the users of a team may have, those whose default entity it is.",
    answer: "403 `quota_exceeded`",
  },
  key_requests_per_minute: {
    default: 60_000,
    unit: "count",
    meaning: "Requests that one key may make in a minute; so many at once, then evenly.",
    answer: "429 `rate_limit_exceeded`",
  },
  call_ids_in_memory: {
    default: 30_000_000,
    unit: "count",
    meaning:
      "Ids of calls that hold no time (those of OpenTelemetry spans, UUIDs of other versions than 7) that the server remembers, " +
      "in 3 to 5 bytes each, so that it need not look up whether one is new. " +
      "With a ClickHouse server, which others may write to, they are always looked up.",
    answer: "none: beyond it calls with such ids are stored more slowly",
  },
  session_idle_ms: {
    default: 7 * 24 * 3600 * 1000,
    unit: "milliseconds",
    most: hundredYears * 24 * 60 * 60 * 1000,
    meaning: "How long a browser stays signed in without being used.",
    answer: "401 `session_ended`",
  },
  session_total_ms: {
    default: 30 * 24 * 3600 * 1000,
    unit: "milliseconds",
    most: hundredYears * 24 * 60 * 60 * 1000,
    meaning: "How long a browser stays signed in at all.",
    answer: "401 `session_ended`",
  },
  sessions_per_user: {
    default: 100,
    unit: "count",
    meaning: "Browsers that one user may be signed in with, and sign-in links of a user that may still be used.",
    answer: "the oldest session ends, the oldest link works no more",
  },
  sign_in_link_ms: {
    default: 3600 * 1000,
    unit: "milliseconds",
    meaning: "How long a sign-in link may be used, once. `npm start` and `npm run demo` print one.",
    answer: "401 `invalid_api_key`",
  },
  sign_in_failures_per_minute: {
    default: 10,
    unit: "count",
    meaning: "Failed sign-ins of one address in a minute.",
    answer: "429 `rate_limit_exceeded`",
  },
  disk_free_bytes: {
    default: 16 * 1024 ** 2,
    unit: "bytes",
    meaning:
      "Room on the disk of the data folder that `/health` and `/v1/health` take for enough: a part of PostgreSQL's " +
      "log. With less they say `degraded` and `/v1/system-check` fails; requests are served as long as they find room.",
    answer: "507 `insufficient_storage` to what finds no room",
  },
} as const satisfies Record<string, Limit>

export type LimitName = keyof typeof limitList
export type Limits = Readonly<Record<LimitName, number>>

const prefix = "HEDDLE_LIMIT_"

export const defaultLimits: Limits = limitsWith(() => undefined)

export function environmentName(name: string): string {
  return prefix + name.toUpperCase()
}

/** @throws {Error} with a sentence for the operator when a variable names no limit, or its value is no whole number above 0. */
export function readLimits(env: NodeJS.ProcessEnv): Limits {
  const known = new Set(Object.keys(limitList).map(environmentName))
  for (const name of Object.keys(env)) {
    if (name.startsWith(prefix) && !known.has(name)) {
      throw new Error(`there is no limit called ${name}: docs/guide/limits.md lists those there are`)
    }
  }
  return limitsWith((name) => parseLimit(name, env[environmentName(name)]))
}

function limitsWith(valueOf: (name: LimitName) => number | undefined): Limits {
  const names = Object.keys(limitList) as LimitName[]
  return Object.fromEntries(names.map((name) => [name, valueOf(name) ?? defaultOf(name, valueOf)])) as Limits
}

function defaultOf(name: LimitName, valueOf: (name: LimitName) => number | undefined): number {
  const { default: value, inProportionTo }: Limit = limitList[name]
  if (inProportionTo === undefined) return value
  const other = inProportionTo as LimitName
  return Math.max(1, Math.floor((value * (valueOf(other) ?? limitList[other].default)) / limitList[other].default))
}

/** An empty variable is one that is not set. */
function parseLimit(name: LimitName, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new Error(`${environmentName(name)} must be a whole number above 0, not "${text}"`)
  }
  const limit: Limit = limitList[name]
  const most = limit.most ?? mostOf[limit.unit]
  if (most !== undefined && value > most)
    throw new Error(`${environmentName(name)} may be ${most} at most, not "${text}"`)
  return value
}
