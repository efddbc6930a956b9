/**
 * Brings a trace store of an earlier version up to date. `create table if not exists` makes what is
 * missing; a step changes what is there.
 *
 * ClickHouse has no lock and no transaction over statements, and a server may die within a step. So a
 * step looks at what is there, and to run it again leads to the same tables. Of servers that share a
 * store one runs it while the others wait.
 */
import { setTimeout } from "node:timers/promises"
import type { Log } from "../../../log.ts"
import { ofLaterVersion } from "../../later-version.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { callsByTime } from "./0003-calls-by-time.ts"
import { needlessEscapes } from "./0004-needless-escapes.ts"
import { quickerPlaces } from "./0005-quicker-places.ts"
import { CannotMigrate } from "./cannot-migrate.ts"
import { withStep } from "./step-claim.ts"

export interface TraceMigration {
  /** Version of a store that has run it. */
  version: number
  name: string
  /** Whether there is anything to change. */
  isNeeded(traces: TraceStore): Promise<boolean>
  /** May be run again after a crash in the middle. */
  run(traces: TraceStore, log: Log): Promise<void>
}

/** In order. Versions 1 and 2 changed tables that version 3 replaces. */
const migrations: readonly TraceMigration[] = [callsByTime, needlessEscapes, quickerPlaces]

const versionTable = `create table if not exists trace_schema (
    version UInt32,
    name String,
    applied_at DateTime64(3, 'UTC') default now64(3)
  ) engine = MergeTree order by version`

/** The network may fail in the middle of a step. */
const attempts = 5
const pauseMs = 500

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }

/**
 * The tables must be there.
 * @throws {Error} with a sentence for the operator when the store is of a later version, or cannot be changed.
 */
export async function migrateTraces(
  traces: TraceStore,
  log: Log = silent,
  steps: readonly TraceMigration[] = migrations,
): Promise<void> {
  await traces.command(versionTable)
  const version = await versionOf(traces)
  const known = steps.at(-1)?.version ?? 0
  if (version > known) {
    throw ofLaterVersion("trace store", `its schema is ${version}, this one knows ${known}`)
  }
  for (const step of steps) if (step.version > version) await runStep(traces, log, step)
}

async function versionOf(traces: TraceStore): Promise<number> {
  const [row] = await traces.rows<{ version: number }>("select max(version) as version from trace_schema")
  return row?.version ?? 0
}

async function runStep(traces: TraceStore, log: Log, step: TraceMigration): Promise<void> {
  const { version, name } = step
  for (let attempt = 1; ; attempt++) {
    try {
      const isNeeded = () => step.isNeeded(traces)
      if (await isNeeded()) await withStep(traces, version, isNeeded, () => step.run(traces, log))
      await traces.insert("trace_schema", JSON.stringify({ version, name }))
      return
    } catch (cause) {
      if (cause instanceof CannotMigrate || attempt === attempts) {
        const why = `the trace store cannot be brought up to date (${name}): ${(cause as Error).message}`
        throw new Error(why, { cause })
      }
      await setTimeout(pauseMs)
    }
  }
}
