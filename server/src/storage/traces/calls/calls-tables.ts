/**
 * The tables of calls, and what every read of them begins with: a call's partial rows as one ({@link callsFinal}), and no
 * call that was deleted or has only an end ({@link liveCall}).
 */

import { readJson } from "../query/json-value.ts"
import { spellsWithEscape } from "../query/text-search.ts"

/** Merges more of the small parts at once, so that a row is rewritten less often (ClickHouse's default is 5). */
const rarerMerges = "merge_selector_base = 20"

/**
 * A place is looked for in every part, so there are fewer of them; LZ4 takes as much less time as merging twice as often
 * takes more.
 */
export const placeMerges = "merge_selector_base = 10"
export const placeCodec = "codec(LZ4)"

export const callsTable = "calls_v2"
export const callPlacesTable = "call_places_v2"

/** SQL, after `from`: every call once, its partial rows made one. */
export const callsFinal = `${callsTable} as calls final`

/** SQL: the row is of a call that has begun and was not deleted. */
export const liveCall = "started_at is not null and deleted_at is null"

/** SQL: ClickHouse's reader of JSON refuses a payload of the call. */
export const hasOddJson = "isNotNull(odd_json)"

/** SQL: what `read` reads from the JSON text of what the call reports; from an empty text where it reports nothing. */
export const readSummary = (read: (text: string) => string) => readJson("ifNull(summary, '')", hasOddJson, read)

/** SQL: a payload of the call spells with an escape what it could spell without, so that a search may not see it. */
export const hasNeedlessEscape = "isNotNull(needless_escape)"

/** ClickHouse computes it for every row, whoever writes it, and for stored rows that have none when they are read. */
export const needlessEscapeColumn = `needless_escape Nullable(UInt8) default ${spellsWithEscape([
  "attributes",
  "inputs",
  "output",
  "summary",
  "otel_dump",
])}`

/**
 * Calls: evaluation-store-calls 2 and 3.1.
 *
 * Every write is the insert of a partial row, and a read takes the newest value that is not null of
 * each column (`final`). So starts, ends, updates and deletions may come in any order, twice, or
 * through several servers. A row without `started_at` is an end whose start has not come.
 *
 * `sort_time`: see sort-time.ts. All rows of a call have the same.
 *
 * Payload columns hold `[<the JSON text as it came>]`: ClickHouse keeps the text of an array, which a
 * bare JSON string would lose. `odd_json` says which calls `query/json-value.ts` must read in its
 * slower way, so that no search need try every payload; whoever makes the row finds out. `needless_escape` says in which
 * calls a search for a text may not see it. Once set it stays: a part of null means "not here", as in `odd_json`.
 *
 * Blocks of 16 KiB and more: to read one row, a block of each narrow column is decompressed, and by
 * ClickHouse's own 64 KiB that takes longer than the payloads. Of the payloads half a granule is read for it: with 512 rows,
 * as stores have that were made before, a call by id takes a millisecond more.
 *
 * `expire_at` is never written: when a call goes is computed (fields/call-expiry.ts).
 *
 * `call_places_v2`: see call-places.ts. Rows are looked up there one by one, hence the small blocks.
 */
export const callsTables = [
  `create table if not exists ${callsTable} (
    project_id UUID,
    sort_time Int64 codec(Delta, ZSTD),
    id String codec(ZSTD),
    trace_id Nullable(String) codec(ZSTD),
    parent_id Nullable(String) codec(ZSTD),
    thread_id Nullable(String) codec(ZSTD),
    turn_id Nullable(String) codec(ZSTD),
    op_name LowCardinality(Nullable(String)),
    display_name Nullable(String) codec(ZSTD),
    started_at Nullable(DateTime64(6, 'UTC')) codec(Delta, ZSTD),
    ended_at Nullable(DateTime64(6, 'UTC')) codec(Delta, ZSTD),
    exception Nullable(String) codec(ZSTD),
    attributes Nullable(String) codec(ZSTD),
    inputs Nullable(String) codec(ZSTD),
    output Nullable(String) codec(ZSTD),
    summary Nullable(String) codec(ZSTD),
    otel_dump Nullable(String) codec(ZSTD),
    wb_user_id LowCardinality(Nullable(String)),
    wb_run_id LowCardinality(Nullable(String)),
    wb_run_step Nullable(Int64),
    wb_run_step_end Nullable(Int64),
    expire_at Nullable(DateTime64(3, 'UTC')),
    deleted_at Nullable(DateTime64(3, 'UTC')),
    odd_json Nullable(UInt8),
    ${needlessEscapeColumn}
  ) engine = CoalescingMergeTree order by (project_id, sort_time, id)
  settings index_granularity = 256, min_compress_block_size = 16384, ${rarerMerges}`,
  `create table if not exists ${callPlacesTable} (
    kind UInt8,
    project_id UUID,
    key String ${placeCodec},
    started_at DateTime64(6, 'UTC') codec(Delta, ZSTD),
    id String ${placeCodec},
    sort_time Int64 codec(Delta, ZSTD)
  ) engine = ReplacingMergeTree order by (kind, project_id, key, started_at, id, sort_time)
  settings index_granularity = 256, min_compress_block_size = 4096, ${placeMerges}`,
]
