/** Opens the trace store and brings its tables up to date. */
import type { Log } from "../../log.ts"
import { defaultLimits, type Limits } from "../../limits.ts"
import { agentSpanTables } from "./agents/span-table.ts"
import { queueCallTables } from "./labelling/queue-calls.ts"
import { addMissingPlaces } from "./calls/insert/call-places.ts"
import { callsTables } from "./calls/calls-tables.ts"
import { ClickHouseTraces } from "./store/clickhouse-traces.ts"
import { EmbeddedTraces, unopened } from "./store/embedded-traces.ts"
import { beginFirstOpen, endFirstOpen } from "./store/first-open.ts"
import { feedbackTables } from "./labelling/feedback-tables.ts"
import { migrateTraces } from "./migrations/migrate-traces.ts"
import { runTables } from "./runs/run-tables.ts"
import { tableTables } from "./table-rows.ts"
import { tokenLedgerTables } from "./token-ledger.ts"
import { tokenPriceTables } from "./token-prices.ts"
import { trainingRowTables } from "./training-rows.ts"
import { requireNoLostParts } from "./store/lost-parts.ts"
import { type TraceStore, TraceStoreError } from "./store/trace-store.ts"

export interface TracesLocation {
  /** null: embedded, in `folder`. */
  clickhouseUrl: string | null
  folder: string
  /** Hears when the ClickHouse server goes away and comes back, and how far a change of the tables is; absent: nobody does. */
  log?: Log
  /** By default those that the server ships with. */
  limits?: Limits
}

const tables = [
  ...agentSpanTables,
  ...tableTables,
  ...tokenLedgerTables,
  ...callsTables,
  ...feedbackTables,
  ...tokenPriceTables,
  ...queueCallTables,
  ...runTables,
  ...trainingRowTables,
]

/** Close it with `close()`. */
export async function openTraces(location: TracesLocation): Promise<TraceStore> {
  const isEmbedded = location.clickhouseUrl === null
  if (isEmbedded) await beginFirstOpen(location.folder)
  const openedAt = Date.now()
  const traces = await connectTraces(location)
  try {
    for (const statement of tables) await traces.command(statement)
    if (isEmbedded) await requireNoLostParts(traces, location.folder, openedAt)
    await migrateTraces(traces, location.log)
    await addMissingPlaces(traces)
    if (isEmbedded) await endFirstOpen(location.folder)
  } catch (error) {
    await traces.close()
    throw isEmbedded && error instanceof TraceStoreError ? unopened(location.folder, error) : error
  }
  return traces
}

/** Without a look at its tables. */
export function connectTraces({
  clickhouseUrl,
  folder,
  log,
  limits = defaultLimits,
}: TracesLocation): Promise<TraceStore> {
  return clickhouseUrl === null
    ? EmbeddedTraces.open(folder, limits)
    : ClickHouseTraces.open(clickhouseUrl, log ?? null, limits)
}
